/// One step of chaos, and who is not back from it yet.
struct Recovery {
  /// Index into `Outcome.recoveries`.
  let step: Int
  /// When it began to be over, in nanoseconds from the start.
  let since: UInt64
  /// A paused relay keeps its connections: those that break nevertheless are added as they do.
  let addsLost: Bool
  /// Those who are awaited, and whether their connection has ended since the step.
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

  /// 99 % of the clients have all their rooms again, and 99 % of the sends that waited are
  /// answered.
  var isOver: Bool { awaited.count * 100 <= clientCount && waiting * 100 <= sendCount }

  mutating func lost(_ client: Int) {
    if awaited[client] != nil {
      awaited[client] = true
    } else if addsLost {
      awaited[client] = true
      clientCount += 1
    }
  }

  /// What was joined before the connection ended is not what is waited for.
  mutating func resumed(_ client: Int) {
    if awaited[client] == true { awaited[client] = nil }
  }

  /// It has gone to sleep as planned: it is not coming back for a while.
  mutating func wentAway(_ client: Int) {
    if awaited.removeValue(forKey: client) != nil { clientCount -= 1 }
  }

  mutating func answered(intended: UInt64) {
    if waiting > 0, intended < since { waiting -= 1 }
  }
}
