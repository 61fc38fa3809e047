/// A load on a server, in the terms of the table.
enum BenchLoad: Equatable, Sendable {
  /// A hundred connections, each with this many messages of 64 bytes in flight.
  case echo(depth: Int)
  /// One room in which one member sends, with this many messages in flight.
  case room(members: Int, window: Int)
  /// 500 conversations in which both users send.
  case directMessages(window: Int)

  static let echoTextBytes = 64

  var isEcho: Bool { if case .echo = self { true } else { false } }

  /// - Returns: `nil` if the server does not support the load.
  func plan(for server: BenchServer) -> RawLoad.Plan? {
    guard let url = server.url(echo: isEcho) else { return nil }
    var plan = RawLoad.Plan(url: url, dialect: isEcho ? .echo : server.program.dialect)
    plan.authorities = server.program.certificate?.path
    plan.textBytes = isEcho ? Self.echoTextBytes : server.program.textBytes
    plan.warmUpSeconds = 0.2
    switch self {
    case .echo(let depth):
      plan.rooms = 100
      plan.work = .publish(.window(depth))
    case .room(let members, let window):
      plan.membersPerRoom = members
      plan.work = .publish(.window(window))
    case .directMessages(let window):
      plan.rooms = 500
      plan.membersPerRoom = 2
      plan.sendersPerRoom = 2
      plan.work = .publish(.window(window))
    }
    return plan
  }
}
