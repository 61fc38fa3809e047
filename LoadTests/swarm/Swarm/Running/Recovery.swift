/// One step of chaos, and the clients that have not recovered from it.
struct Recovery {
  /// Index into `Outcome.recoveries`.
  let step: Int
  /// When recovery began, in nanoseconds from the start.
  let since: UInt64
  /// Whether clients that lose their connection later are added: a paused relay keeps its
  /// connections, but some break nevertheless.
  let addsLost: Bool
  /// The clients that have not recovered, and whether their connection has ended since the step.
  private(set) var awaited: [Int: Bool] = [:]
  private(set) var clientCount = 0
  /// Sends from before `since` that are not answered.
  private(set) var sendCount = 0
  private var waiting = 0

  init(
    step: Int, since: UInt64, clients: [(client: Int, isLost: Bool)] = [], sends: Int = 0,
    addsLost: Bool = false
  ) {
    self.step = step
    self.since = since
    self.addsLost = addsLost
    awaited = Dictionary(uniqueKeysWithValues: clients.map { ($0.client, $0.isLost) })
    clientCount = clients.count
    sendCount = sends
    waiting = sends
  }

  /// Whether 99 % of the clients have joined all their rooms again, and 99 % of the waiting sends
  /// are answered.
  var isOver: Bool { awaited.count * 100 <= clientCount && waiting * 100 <= sendCount }

  mutating func lost(_ client: Int) {
    if awaited[client] != nil {
      awaited[client] = true
    } else if addsLost {
      awaited[client] = true
      clientCount += 1
    }
  }

  /// Joins before the end of the connection do not count.
  mutating func resumed(_ client: Int) {
    if awaited[client] == true { awaited[client] = nil }
  }

  /// Removes a client that has gone offline as planned.
  mutating func wentAway(_ client: Int) {
    if awaited.removeValue(forKey: client) != nil { clientCount -= 1 }
  }

  mutating func answered(intended: UInt64) {
    if waiting > 0, intended < since { waiting -= 1 }
  }
}
