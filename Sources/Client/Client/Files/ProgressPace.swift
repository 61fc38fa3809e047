internal import Platform
internal import Synchronization

/// Posts the progress of a transfer, at most once per `progressMilliseconds`.
final class ProgressPace: Sendable {
  private let id: FileTransfers.ID
  private let sizeBytes: Int64
  private let events: Mailbox<FileTransfers.Event>
  private let last = Mutex<Instant?>(nil)

  init(_ id: FileTransfers.ID, of sizeBytes: Int64, _ events: Mailbox<FileTransfers.Event>) {
    self.id = id
    self.sizeBytes = sizeBytes
    self.events = events
  }

  func report(_ bytes: Int64) {
    let now = Instant.now()
    let isDue = last.withLock { last in
      if let last, now.milliseconds(since: last) < FileTransfers.progressMilliseconds {
        return false
      }
      last = now
      return true
    }
    if isDue { events.post(.progressed(id, bytes: bytes, of: sizeBytes)) }
  }
}
