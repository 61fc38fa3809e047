import Testing

@testable import Messenger

@Suite struct `Fuzzy matching` {
  @Test(
    arguments: [
      ("al", "Ada Lovelace", [0, 4]), ("ada", "Ada Lovelace", [0, 1, 2]),
      ("love", "Ada Lovelace", [4, 5, 6, 7]), ("jose", "José Núñez", [0, 1, 2, 3]),
      ("nunez", "José Núñez", [5, 6, 7, 8, 9]), ("É", "eve", [0]),
      ("strasse", "Straße", [0, 1, 2, 3, 4, 5]),
      ("oster", "Øster", [0, 1, 2, 3, 4]), ("日", "今日は", [1]), ("мир", "Влади́мир", [5, 6, 7]),
      ("a l", "Ada Lovelace", [0, 4]), ("gr", "work-general-room", [5, 13]),
      ("mb", "myBot", [0, 2]),
      ("", "anyone", []),
    ] as [(String, String, [Int])])
  func `letters are found in order, at their best places`(
    query: String, candidate: String, offsets: [Int]
  ) throws {
    let match = try #require(Fuzzy.match(query, candidate))
    #expect(match.offsets == offsets)
  }

  @Test(arguments: [("x", "Ada"), ("adaa", "Ada"), ("la", "Al"), ("ß", "s")])
  func `a text without the letters does not match`(query: String, candidate: String) {
    #expect(Fuzzy.match(query, candidate) == nil)
  }

  @Test(arguments: [
    ("bo", ["bo", "bob", "Big Oak", "b-x-x-o", "carbon"]),
    ("gen", ["gen", "general", "the general", "the-engine-n"]),
  ])
  func `better matches score higher`(query: String, ranked: [String]) throws {
    let scores = try ranked.map { try #require(Fuzzy.match(query, $0)).score }
    #expect(scores == scores.sorted(by: >), "\(scores)")
    #expect(Set(scores).count == scores.count)
  }

  @Test func `letters far apart still match`() {
    let match = Fuzzy.match("az", "a" + String(repeating: "-", count: 200) + "z")
    #expect(match?.offsets == [0, 201])
  }
}
