public import Logging

/// All configured bots.
public struct BotSquad: Sendable {
  private let bots: [Bot]

  /// - Parameter clock: the clock for all waits.
  public init(
    _ descriptions: [BotDescription], host: any BotHost, clock: any Clock<Duration>, log: Logger
  ) {
    let users = Set(descriptions.map(\.user))
    var roommates: [String: Int] = [:]
    for description in descriptions {
      for room in Set(description.rooms) { roommates[room, default: 0] += 1 }
    }
    bots = descriptions.map { [roommates] in
      Bot($0, bots: users, roommates: roommates, host: host, clock: clock, log: log)
    }
  }

  /// Runs every bot until the task is cancelled or the host shuts down.
  public func run() async {
    await withDiscardingTaskGroup { group in
      for bot in bots { group.addTask { await bot.run() } }
    }
  }
}
