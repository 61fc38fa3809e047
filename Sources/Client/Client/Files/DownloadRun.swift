internal import Platform

/// Performs a download, in its own thread.
struct DownloadRun {
  let id: FileTransfers.ID
  let resource: String
  let request: RelayRequest
  let events: Mailbox<FileTransfers.Event>

  /// Returns the last event.
  func run(to path: String, limitBytes: Int64) -> FileTransfers.Event {
    var random = SystemRandomNumberGenerator()
    var backoff = Backoff(firstMilliseconds: 500, limitMilliseconds: 30_000)
    let pace = ProgressPace(id, of: limitBytes, events)
    do throws(SystemError) {
      var download = try FileDownload(to: path, limitBytes: limitBytes)
      while !download.isWhole {
        let before = download.offset
        let problem: String
        do throws(RelayRequest.Failure) {
          guard let refusal = try fetch(&download, pace) else { continue }
          problem = refusal
        } catch {
          switch error {
          case .cancelled: return .cancelled(id)
          case .connection(let lost) where !lost.isFinal: problem = "\(lost)"
          default: return .failed(id, reason: "\(error)")
          }
        }
        if download.offset > before { backoff.reset() }
        events.post(.waiting(id, reason: problem))
        let wait = backoff.nextMilliseconds(using: &random)
        if request.cancellation?.wait(milliseconds: wait) == true { return .cancelled(id) }
      }
      try download.finish()
      return .downloaded(id)
    } catch {
      return .failed(id, reason: "\(error)")
    }
  }

  /// Requests what is missing.
  /// - Returns: Why another attempt must follow; `nil` if the answer was whole.
  private func fetch(
    _ download: inout FileDownload, _ pace: ProgressPace
  ) throws(RelayRequest.Failure) -> String? {
    let fields = download.fields
    var (status, isFirst) = (0, true)
    try request.fetch(resource, fields: fields, accepting: "*/*") {
      head, bytes throws(RelayRequest.Failure) in
      status = head.status
      guard status == 200 || status == 206 else { return false }
      try download.take(head, bytes, isFirst: isFirst)
      isFirst = false
      pace.report(download.offset)
      return true
    }
    switch status {
    case 200, 206: return nil
    case 408, 425, 429, 500, 502...504: return "it answers with HTTP status \(status)"
    case 404:
      throw .refused(
        "the relay has no such file, or not for you: its message may have been deleted")
    default: throw .refused("it answers with HTTP status \(status)")
    }
  }
}
