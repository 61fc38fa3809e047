import Relay
import WebSocket
import Wire

/// The relay's shutdown. Clients that have long sent nothing are told first when to reconnect, some in each turn,
/// while the others are served as before: to close thousands of connections takes longer than all that follows.
/// Then sends are refused; what was accepted is stored and acknowledged; the other clients are told, and the log is
/// needed no more. Those come back first, and the longer a client has sent nothing, the later it does.
extension ConnectionLoop {
  /// A client that has sent nothing for so long is told first.
  static let idleMilliseconds: Int64 = 5000
  /// How many idle clients are told in one turn.
  static let dismissalsPerTurn = 32
  /// The time from such a turn to the next, in milliseconds: otherwise the ends of thousands of connections take all
  /// processors at once, also on the clients' side.
  static let dismissalMilliseconds: Int64 = 5

  /// The progress of a shutdown.
  struct Shutdown {
    enum Stage {
      /// Idle clients are told.
      case dismissing
      /// The log works on what was accepted.
      case storing
      case announced
    }

    var stage = Stage.dismissing
    var deadline: Int64
    let schedule: ReturnSchedule
    /// The clients that are told first, the one that has been silent for the longest time at the end: it comes back
    /// last. One that comes back soon is told just before the others, since until then no process would answer it.
    var idle: [ServerConnection]
    /// The rank of the next one of them.
    var rank: Int
    /// When the next ones are told, in milliseconds of the monotonic clock.
    var nextDismissal: Int64 = 0
    /// Connections whose request had not arrived when the others were told. They are told as soon as it
    /// has; some milliseconds more, and another process would have accepted them.
    var opening: [ServerConnection] = []
    var openingDeadline: Int64 = 0
  }

  var isShuttingDown: Bool { shutdown != nil }
  /// When idle clients are to be told, in microseconds of the monotonic clock; `nil` = there are none.
  var nextDismissal: Int64? {
    guard let shutdown, shutdown.stage == .dismissing, !shutdown.idle.isEmpty else { return nil }
    return shutdown.nextDismissal * 1000
  }
  /// Whether the log is needed no more.
  var hasFinishedWithLog: Bool { shutdown?.stage == .announced }

  func beginShutdown(isTakenOver: Bool) {
    guard shutdown == nil else { return }
    // A time without turns that ends with this one would prolong the shutdown at the next sweep.
    grantStalledTime()
    world.stopAccepting()
    let clients = connections.all.filter { $0.hasStream && $0.session != nil }
      .sorted { silence(of: $0) < silence(of: $1) }
    let idle = clients.drop { silence(of: $0) < Self.idleMilliseconds }
    shutdown = Shutdown(
      deadline: now.monotonic + Int64(context.drainSeconds) * 800,
      schedule: ReturnSchedule(
        connections: context.admission.census.total, loops: context.loopCount,
        count: clients.count, microseconds: arrivalCost.average, isTakenOver: isTakenOver),
      idle: Array(idle), rank: clients.count - 1)
    for connection in connections.all { connection.exchange?.beginShutdown() }
  }

  /// How long a client has sent no message, in milliseconds. One that answers pings has been silent for long.
  private func silence(of connection: ServerConnection) -> Int64 {
    connection.arrival[.hasSentLast] ? now.monotonic - connection.heardAt : .max
  }

  func advanceShutdown() {
    guard let stage = shutdown?.stage else { return }
    switch stage {
    case .dismissing:
      dismissIdle()
      guard nextDismissal == nil || isLate else { return }
      shutdown?.stage = .storing
      shard.beginShutdown()
      announceIfStored()
    case .storing: announceIfStored()
    case .announced: dismissOpening()
    }
  }

  private func dismissOpening() {
    guard let opening = shutdown?.opening, !opening.isEmpty else { return }
    let isOver = now.monotonic >= shutdown?.openingDeadline ?? 0
    let rest = opening.filter { connection in
      if connection.isGone { return false }
      if connection.session != nil {
        dismiss(connection, rank: 0)
      } else if isOver, connection.awaitsRequest {
        remove(connection)
      } else {
        return true
      }
      return false
    }
    shutdown?.opening = rest
  }

  private var isLate: Bool { shutdown.map { now.monotonic >= $0.deadline } ?? false }

  private func dismissIdle() {
    guard now.monotonic >= shutdown?.nextDismissal ?? 0 else { return }
    shutdown?.nextDismissal = now.monotonic + Self.dismissalMilliseconds
    for _ in 0..<Self.dismissalsPerTurn {
      guard let connection = shutdown?.idle.popLast(), let rank = shutdown?.rank else { return }
      shutdown?.rank -= 1
      dismiss(connection, rank: rank)
    }
  }

  private func dismiss(_ connection: ServerConnection, rank: Int) {
    guard !connection.isGone, let session = connection.session, let shutdown else { return }
    // The peer decides the contents of an echo, so it gets a close reason but no announcement.
    if case .echo = connection.state {
      return close(
        connection, CloseCode(rawValue: CloseReason.restart.rawValue), Self.restartReason)
    }
    shard.announceClosing(
      to: session, Self.restartReason,
      reconnectAfterMilliseconds: shutdown.schedule.delay(ofRank: rank, using: &random))
  }

  private static let restartReason = "the relay is restarting"

  private func announceIfStored() {
    guard shard.isIdle || isLate else { return }
    shutdown?.stage = .announced
    let rest = connections.all.filter { $0.session != nil }
      .sorted { silence(of: $0) < silence(of: $1) }
    for (rank, connection) in rest.enumerated() { dismiss(connection, rank: rank) }
    for connection in connections.all where connection.session == nil && connection.hasStream {
      if case .resting = connection.state {
        remove(connection)
      } else {
        shutdown?.opening.append(connection)
      }
    }
    shutdown?.openingDeadline = now.monotonic + Self.lingerMilliseconds
    world.logIsFinished()
  }

  func endIfOver() -> Bool {
    guard let shutdown, shutdown.stage == .announced, connections.isEmpty || isLate else {
      return false
    }
    for connection in connections.all { remove(connection, "the relay has stopped") }
    reportSummaries(isLast: true)
    return true
  }
}
