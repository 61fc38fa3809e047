import Testing

@testable import Cluster
@testable import Relay

/// The budget of a user on several nodes, which tell each other what was spent.
@Suite struct SharedBudgetTests {
  private struct Node {
    let ledger = SpendingLedger()
    let budgets: Budgets<String>

    init(_ limits: UserBudget.Limits) { budgets = ledger.budgets(limits) }

    func apply(_ told: NodeSpending, now: Int64) { ledger.apply(told, to: budgets, now: now) }
  }

  /// Nodes whose reports arrive after a delay, and scripts that take each token as it comes.
  private struct Cluster {
    let nodes: [Node]
    private(set) var now: Int64 = 0
    private var arriving: [(at: Int64, NodeSpending)] = []
    private(set) var reported = 0

    init(_ count: Int, _ limits: UserBudget.Limits = .init()) {
      nodes = (0..<count).map { _ in Node(limits) }
    }

    /// Lets time pass.
    /// - Parameter turn: called each millisecond.
    mutating func run(_ milliseconds: Int64, _ turn: (Int64) -> Void = { _ in }) {
      for _ in 0..<milliseconds {
        now += 1
        turn(now)
        // As a loop does, at moments of its own.
        for (index, node) in nodes.enumerated() where (now + Int64(index) * 83) % 250 == 0 {
          let spending = node.ledger.take(now: now)
          guard !spending.isEmpty else { continue }
          reported += 1
          arriving.append((now + 20, NodeSpending(node: Int64(index), spending: spending)))
        }
        for (_, told) in arriving where arriving.contains(where: { $0.at == now && $0.1 == told }) {
          for (index, node) in nodes.enumerated() where Int64(index) != told.node {
            node.apply(told, now: now)
          }
        }
        arriving.removeAll { $0.at <= now }
      }
    }
  }

  private func send(_ node: Node, _ now: Int64, as user: String = "ada") -> Bool {
    node.budgets.take(.send, bytes: 10, from: user, now: now) == nil
  }

  @Test(arguments: [1, 2, 3, 8])
  func `scripts on all nodes get the limit once, after a burst on each`(count: Int) {
    var cluster = Cluster(count)
    let nodes = cluster.nodes
    var sent = 0
    cluster.run(60_000) { now in
      for node in nodes where send(node, now) { sent += 1 }
    }
    // The bursts, a second of the limit on each node before it hears of the others, and the limit.
    #expect(sent <= count * (40 + 2 * 20) + 60 * 20)
    #expect(sent >= 60 * 20)
    let before = sent
    cluster.run(60_000) { now in
      for node in nodes where send(node, now) { sent += 1 }
    }
    #expect(abs(sent - before - 60 * 20) < 60 * 2)
  }

  @Test func `bursts in turns on several nodes are paid for`() {
    var cluster = Cluster(3)
    let nodes = cluster.nodes
    var sent = 0
    cluster.run(120_000) { now in
      if send(nodes[Int(now / 4000 % 3)], now) { sent += 1 }
    }
    #expect(sent <= 3 * (40 + 2 * 20) + 120 * 20)
  }

  @Test func `a script on one node gets the whole limit, and does not silence a phone on another`()
  {
    var cluster = Cluster(3)
    let nodes = cluster.nodes
    var (script, phone, refused) = (0, 0, 0)
    cluster.run(30_000) { now in if send(nodes[0], now) { script += 1 } }
    #expect((30 * 20...30 * 20 + 40).contains(script))
    cluster.run(30_000) { now in
      if send(nodes[0], now) { script += 1 }
      if now % 500 == 0 {
        if send(nodes[1], now) { phone += 1 } else { refused += 1 }
      }
    }
    #expect(phone == 60)
    #expect(refused == 0)
  }

  @Test func `a user with a full budget pays no debt`() {
    var cluster = Cluster(2)
    let nodes = cluster.nodes
    cluster.run(10_000) { now in _ = send(nodes[0], now) }
    cluster.run(70_000)
    for node in nodes { node.budgets.evictIdle(now: cluster.now) }
    var sent = 0
    while send(nodes[1], cluster.now) { sent += 1 }
    #expect(sent == 40)
  }

  @Test func `who sends little is not told of`() {
    var cluster = Cluster(2)
    let nodes = cluster.nodes
    cluster.run(1900) { now in if now % 1000 == 0 { _ = send(nodes[0], now) } }
    #expect(cluster.reported == 0)
    cluster.run(10_000)
    #expect(cluster.reported == 0)
  }

  @Test func `connections on other nodes count against the limit, until they end`() {
    var cluster = Cluster(2)
    let nodes = cluster.nodes
    var connections: [(UserBudget, rank: UInt64)] = []
    for _ in 0..<30 { connections += [nodes[0].budgets.connect("ada", now: 0)].compactMap(\.self) }
    cluster.run(1500)
    var elsewhere: [(UserBudget, rank: UInt64)] = []
    for _ in 0..<50 {
      elsewhere += [nodes[1].budgets.connect("ada", now: cluster.now)].compactMap(\.self)
    }
    #expect(elsewhere.count == 20)
    // They are told again as long as they are open.
    cluster.run(120_000)
    #expect(nodes[1].budgets.connect("ada", now: cluster.now) == nil)
    for (budget, rank) in connections { nodes[0].budgets.disconnect(budget, rank: rank) }
    cluster.run(1500)
    #expect(nodes[1].budgets.connect("ada", now: cluster.now) != nil)
  }

  @Test func `connections on a node that says nothing more are forgotten`() {
    var limits = UserBudget.Limits()
    limits.connections = 10
    let node = Node(limits)
    var spending = Spending(user: "ada")
    spending.connections = 10
    node.apply(NodeSpending(node: 7, spending: [spending]), now: 0)
    #expect(node.budgets.connect("ada", now: 29_000) == nil)
    #expect(node.budgets.connect("ada", now: 31_000) != nil)
  }

  @Test func `a report names a thousand users, and the others in the next ones`() {
    var limits = UserBudget.Limits()
    limits.connections = 0
    let node = Node(limits)
    for user in 0..<2500 { for _ in 0..<5 { _ = send(node, 0, as: "user-\(user)") } }
    var users: [String] = []
    for second: Int64 in 1...4 {
      let report = node.ledger.take(now: second * 1000)
      #expect(report.count <= SpendingLedger.usersLimit)
      #expect(node.ledger.take(now: second * 1000 + 999).isEmpty)
      users += report.map(\.user)
    }
    #expect(Set(users).count == 2500)
    #expect(users.count == 2500)
  }

  @Test func `absurd reports bound the debt`() {
    let node = Node(.init())
    for other in 0..<1000 {
      var spending = Spending(user: "ada")
      (spending.sends, spending.bytes) = (other == 3 ? -5 : .max, .max)
      spending.connections = .max / 2000
      node.apply(NodeSpending(node: Int64(other), spending: [spending]), now: 0)
    }
    var firstAt: Int64?
    for now: Int64 in stride(from: 0, through: 100_000, by: 10) where send(node, now) {
      firstAt = firstAt ?? now
    }
    #expect(firstAt == 0)
    #expect(node.budgets.connect("ada", now: 100_000) != nil)
  }
}
