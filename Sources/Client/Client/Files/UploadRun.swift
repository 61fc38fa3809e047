internal import Platform

/// Performs an upload, in its own thread.
struct UploadRun {
  private static let answerLimitBytes = 64 << 10

  let id: FileTransfers.ID
  var upload: FileUpload
  let file: OpenFile
  let request: RelayRequest
  /// Returns the resource for the user whose upload it is.
  let resource: (String) -> String
  /// Called with the id that the relay gives the upload.
  let created: (String) -> Void
  let events: Mailbox<FileTransfers.Event>

  /// Returns the last event.
  consuming func run() -> FileTransfers.Event {
    var random = SystemRandomNumberGenerator()
    let pace = ProgressPace(id, of: file.size, events)
    while true {
      switch upload.next() {
      case .end(.uploaded(let file)): return .uploaded(id, file: file)
      case .end(.refused(let reason)): return .failed(id, reason: reason)
      case .wait(let milliseconds, let reason):
        events.post(.waiting(id, reason: reason))
        if request.cancellation?.wait(milliseconds: milliseconds) == true { return cancelled() }
      case .send(let wanted):
        do throws(RelayRequest.Failure) {
          upload.take(try perform(wanted, pace), using: &random)
          if case .create = wanted, let file = upload.file { created(file) }
        } catch {
          if case .cancelled = error { return cancelled() }
          return .failed(id, reason: "\(error)")
        }
      }
    }
  }

  /// - Throws: For what another attempt does not mend.
  private func perform(
    _ wanted: FileUpload.Request, _ pace: ProgressPace
  ) throws(RelayRequest.Failure) -> FileUpload.Answer {
    do throws(RelayRequest.Failure) {
      let answer =
        switch wanted {
        case .create(let metadata):
          try send(
            "POST", "v1/files",
            [("Upload-Length", "\(upload.sizeBytes)"), ("Upload-Metadata", metadata)])
        case .ask(let file): try send("HEAD", "v1/files/\(file)")
        case .append(let file, let range):
          try send(
            "PATCH", "v1/files/\(file)", [("Upload-Offset", "\(range.lowerBound)")],
            .file(
              FilePart(of: self.file, from: range.lowerBound, to: range.upperBound) {
                pace.report($0)
              }, type: "application/offset+octet-stream"))
        }
      return .http(answer.head, body: answer.body)
    } catch {
      switch error {
      case .connection(let lost) where !lost.isFinal: return .none("\(lost)")
      default: throw error
      }
    }
  }

  private func send(
    _ method: String, _ path: String, _ fields: [(String, String)] = [],
    _ body: RelayRequest.Body = .none
  ) throws(RelayRequest.Failure) -> RelayRequest.Answer {
    try request.send(
      method, resource(path), fields: [("Tus-Resumable", "1.0.0")] + fields, body: body,
      accepting: "application/json", limitBytes: Self.answerLimitBytes)
  }

  /// Deletes what the relay has; if that fails, it does so itself after a day.
  private func cancelled() -> FileTransfers.Event {
    if let file = upload.file, request.cancellation?.leavesWork != true {
      var last = request
      last.cancellation = nil
      last.patience = .total(milliseconds: RelayRequest.timeoutMilliseconds)
      _ = try? last.send(
        "DELETE", resource("v1/files/\(file)"), fields: [("Tus-Resumable", "1.0.0")],
        accepting: "application/json", limitBytes: Self.answerLimitBytes)
    }
    return .cancelled(id)
  }
}
