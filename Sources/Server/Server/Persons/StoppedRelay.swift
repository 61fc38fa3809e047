import Gateway
import Platform
import Relay
public import RelayConfiguration
public import SQLiteLog
public import Wire

/// The log of a relay that does not run, for requests of its operator. Holds the lock of the data folder. To be
/// used by one thread.
public final class StoppedRelay {
  private let log: SQLiteLog
  private let folder: String
  private let deliveries = WorkQueue<LogDelivery>()

  /// - Parameter report: receives messages for the operator.
  public init(
    _ configuration: Configuration, report: @escaping @Sendable (String) -> Void
  ) throws(StoreError) {
    folder = configuration.dataFolder
    log = try SQLiteLog(folder: folder, options: .init(configuration), report: report)
    do throws(StoreFailure) {
      try log.start(loops: 1, framing: .webSocket) { [deliveries] _, delivery in
        deliveries.append(delivery)
      }
    } catch {
      throw StoreError(.environment, error.description)
    }
  }

  /// Carries out `ban` and `erase`, in one batch.
  /// - Throws: with the first refusal.
  public func perform(_ messages: [ClientMessage]) throws(StoreError) {
    log.submit(messages.compactMap(Self.request), from: 0)
    while let next = deliveries.takeAll() {
      for delivery in next {
        for case .answer(_, .error(let error)) in delivery.answers {
          throw StoreError(.environment, error.message)
        }
        if delivery.completesSubmit { return }
      }
    }
  }

  private static func request(_ message: ClientMessage) -> LogRequest? {
    let order = LogRequest.Order(
      by: UserName.relay,
      origin: .init(
        session: SessionID(slot: Slot(0), generation: 0), re: message.type, ref: nil))
    return switch message {
    case .ban(let user, let on, let until):
      .ban(BanChange(user: user, isBanned: on, until: until), order)
    case .erase(let user, let room, let seq):
      .erase(LogRequest.Erasure(user: user, room: room, seq: seq), order)
    default: nil
    }
  }

  /// Removes the bytes that no file has any more, and the user's uploads that are not complete: a relay removes the
  /// former when it starts, and the latter within a day.
  public func removeFiles(of user: String) throws {
    let folder = FileFolder(inDataFolder: folder)
    var files = try StoredFiles(folder: self.folder)
    for subfolder in folder.folders {
      let hashes = folder.hashes(in: subfolder)
      let used = Set(try files.used(among: hashes))
      for hash in hashes where !used.contains(hash) {
        folder.remove(folder.stored(hash))
        folder.remove(folder.png(of: hash))
      }
    }
    for name in folder.disk.names(in: folder.uploads) ?? [] where name.hasSuffix(".json") {
      let id = String(name.dropLast(".json".count))
      if folder.readRecord(id)?.user == user { folder.removeUpload(id) }
    }
  }

  public func stop() { log.stop() }
}
