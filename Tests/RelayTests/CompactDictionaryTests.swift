import Testing

@testable import Relay

@Suite struct `A compact dictionary` {
  /// Up to 15 entries it has no hash table.
  @Test(arguments: [1, 2, 15, 16, 100, 1000])
  func `removing entries leaves the values of the others`(count: Int) {
    var squares: CompactDictionary<String, Int> = [:]
    for number in 0..<count { squares["\(number)"] = number * number }
    for number in stride(from: 0, to: count, by: 2) {
      #expect(squares.removeValue(forKey: "\(number)") == number * number)
    }
    for number in 0..<count {
      #expect(squares["\(number)"] == (number % 2 == 0 ? nil : number * number))
    }
    #expect(squares.count == count / 2)
    #expect(
      zip(squares.keys, squares.values).allSatisfy { key, value in
        Int(key).map { $0 * $0 } == value
      })
  }

  @Test func `the place of a key gives access to its value`() throws {
    var marks: CompactDictionary = ["ada": MemberMarks(read: 1), "bo": MemberMarks(read: 2)]
    marks[place: try #require(marks.place(of: "bo"))].read = 3
    #expect(marks["bo"]?.read == 3)
    #expect(marks["ada"]?.read == 1)
    #expect(marks.place(of: "cy") == nil)
  }

  @Test func `removing what is not there changes nothing`() {
    var numbers: CompactDictionary = ["ada": 1]
    numbers["bo"] = nil
    #expect(numbers.removeValue(forKey: "cy") == nil)
    #expect(numbers.count == 1)
    numbers["ada"] = nil
    #expect(numbers.isEmpty)
  }

  @Test func `shrinking after a peak keeps the entries`() {
    var numbers: CompactDictionary<String, Int> = [:]
    for number in 0..<10_000 { numbers["\(number)"] = number }
    #expect(!numbers.isLoose)
    for number in 100..<10_000 { numbers["\(number)"] = nil }
    #expect(numbers.isLoose)
    numbers.shrinkIfLoose()
    #expect(!numbers.isLoose)
    #expect(numbers.count == 100)
    for number in 0..<100 { #expect(numbers["\(number)"] == number) }
  }
}
