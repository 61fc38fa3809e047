import Mixing
import Testing

@testable import Swarm

/// A relay that appears to hold loads up to a capacity.
struct SimulatedRelay {
  var capacity: Double
  /// The range around its capacity in which a run may have either result.
  var blur = 0.0
  /// The rate of runs that fail because of other load on the machine.
  var accidents = 0.0
  /// The load from which on swarm cannot keep up.
  var swarmLimit = Double.infinity
  var random: SplitMix64

  init(capacity: Double, seed: UInt64 = 1) {
    self.capacity = capacity
    random = SplitMix64(seed: seed)
  }

  mutating func run(_ factor: Double) -> LoadSearch.Result {
    let point = capacity * (1 + blur * (2 * random.unit() - 1))
    let isAccident = random.unit() < accidents
    if factor > swarmLimit { return .void }
    return factor <= point && !isAccident ? .holds : .misses
  }

  /// - Returns: the search, and the loads that it requested.
  mutating func search(to most: Double = 1024, precision: Double = 0.05) -> (LoadSearch, [Double]) {
    var search = LoadSearch(to: most, precision: precision)
    var asked: [Double] = []
    var step = search.next()
    while case .run(let factor) = step, asked.count < 1000 {
      asked.append(factor)
      step = search.next(run(factor))
    }
    return (search, asked)
  }
}

@Suite struct `The search for the largest load` {
  @Test(arguments: [1, 1.01, 1.5, 2, 3.3, 7.99, 100, 777.7])
  func `finds a capacity within its precision`(capacity: Double) throws {
    for precision in [0.2, 0.05, 0.01] {
      var relay = SimulatedRelay(capacity: capacity)
      let (search, asked) = relay.search(precision: precision)
      let holds = try #require(search.holds)
      let fails = try #require(search.fails)
      #expect(holds <= capacity)
      #expect(capacity < fails.factor)
      #expect(fails.factor <= holds * (1 + precision) * 1.000_001)
      #expect(fails.result == .misses)
      #expect(asked.count < 40, "\(asked)")
    }
  }

  @Test func `doubles first, repeats a failure, and then bisects by ratio`() {
    var relay = SimulatedRelay(capacity: 3.3)
    let (_, asked) = relay.search(precision: 0.2)
    #expect(asked == [1, 2, 4, 4, 2.83, 3.36, 3.36])
  }

  @Test func `a failure that is not repeated does not count`() throws {
    var search = LoadSearch(to: 4, precision: 0.05)
    #expect(search.next() == .run(1))
    #expect(search.next(.misses) == .run(1))
    #expect(search.next(.holds) == .run(2))
    #expect(search.next(.void) == .run(2))
    #expect(search.next(.holds) == .run(4))
    #expect(search.next(.holds) == .over)
    #expect(search.holds == 4)
    #expect(search.fails == nil)
  }

  @Test func `a doubtful result at one load does not affect another`() {
    var search = LoadSearch(to: 1024, precision: 0.3)
    _ = search.next()
    #expect(search.next(.misses) == .run(1))
    #expect(search.next(.holds) == .run(2))
    #expect(search.next(.misses) == .run(2))
  }

  @Test func `the smallest load that misses twice is the end`() {
    var relay = SimulatedRelay(capacity: 0.5)
    let (search, asked) = relay.search()
    #expect(asked == [1, 1])
    #expect(search.holds == nil)
    #expect(search.fails?.factor == 1)
  }

  @Test func `the largest allowed load is tried, and is an answer`() {
    var relay = SimulatedRelay(capacity: 1000)
    let (search, asked) = relay.search(to: 5)
    #expect(asked == [1, 2, 4, 5])
    #expect(search.holds == 5)
    #expect(search.fails == nil)
  }

  @Test func `a limit of swarm is distinguished from one of the relay`() throws {
    var relay = SimulatedRelay(capacity: 100)
    relay.swarmLimit = 6
    let (search, _) = relay.search()
    let holds = try #require(search.holds)
    #expect((5.7...6).contains(holds))
    #expect(search.fails?.result == .void)
    // One of two is enough: it is unknown whether the relay missed.
    var mixed = LoadSearch(to: 8, precision: 0.5)
    _ = mixed.next()
    _ = mixed.next(.void)
    _ = mixed.next(.misses)
    #expect(mixed.fails?.result == .void)
  }

  @Test func `accidents do not mislead it much`() throws {
    var answers: [Double] = []
    for seed: UInt64 in 0..<200 {
      var relay = SimulatedRelay(capacity: 20, seed: seed)
      relay.accidents = 0.05
      let (search, asked) = relay.search()
      answers.append(search.holds ?? 0)
      #expect(asked.count < 40)
    }
    // One in 400 loads fails twice by accident.
    #expect(answers.count { $0 >= 19 } >= 190)
    #expect(answers.allSatisfy { $0 <= 20 })
  }

  @Test func `if a capacity is not sharp, the answer is within its range`() {
    for seed: UInt64 in 0..<200 {
      var relay = SimulatedRelay(capacity: 20, seed: seed)
      relay.blur = 0.1
      let (search, asked) = relay.search()
      let holds = search.holds ?? 0
      #expect((17...22).contains(holds), "seed \(seed): \(asked)")
    }
  }
}
