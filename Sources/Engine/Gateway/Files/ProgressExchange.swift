import Relay
import WebSocket
import Wire

/// `HEAD` and `DELETE` of an upload: how far it is, and its end. A complete one is a file, which may be removed until
/// an entry names it.
final class ProgressExchange: FileExchange {
  private let upload: String
  private let terminates: Bool
  /// What keeps the bytes has all of the upload.
  private var complete: StoredFile?

  init(
    of upload: String, terminates: Bool, _ settings: FileSettings, _ call: HTTPCall,
    _ id: ExchangeID, _ loop: ConnectionLoop, _ connection: ServerConnection
  ) {
    (self.upload, self.terminates) = (upload, terminates)
    super.init(settings, call, id, loop, connection)
  }

  override func start(_ content: [UInt8]) {
    if let problem = loop.charge(requests: 1, to: user) { return finish(problem.response) }
    keep(terminates ? .terminate(upload, user: user) : .find(upload, user: user))
  }

  override func take(_ result: FileWorkResult) {
    switch result {
    case .upload(let state):
      answer(offset: state.offset, of: state.bytes, state)
    case .complete(let file):
      complete = file
      change(.add(file))
    case .terminated: finish(HTTPResponse(status: 204))
    case .confirmed:
      guard let complete else { return }
      answer(offset: complete.description.size, of: complete.description.size)
    case .nothing:
      if terminates {
        change(.remove(upload, by: user))
      } else {
        ask(.uploaded(upload, by: user))
      }
    case .refused(let refusal): refuse(refusal)
    case .bytes, .removed: break
    }
  }

  override func take(_ answer: FileAnswer) {
    switch answer {
    case .done:
      if terminates { finish(HTTPResponse(status: 204)) } else { keep(.confirm(upload)) }
    case .file(let file?):
      self.answer(offset: file.description.size, of: file.description.size)
    case .file(nil): conclude(HTTPProblem.noFile(upload))
    // Another relay has completed it.
    case .refused(let error) where error.code == .idConflict && !terminates:
      keep(.confirm(upload))
    case .refused(let error): conclude(HTTPProblem(error))
    default: concludeUnavailable()
    }
  }

  private func answer(offset: Int64, of bytes: Int64, _ state: Upload? = nil) {
    var response = HTTPResponse(status: 200)
    response.add("Upload-Offset", String(offset))
    response.add("Upload-Length", String(bytes))
    if let state {
      response.add("Upload-Expires", HTTPDate.text(state.expiresAt))
      if !state.metadata.isEmpty { response.add("Upload-Metadata", state.metadata) }
    }
    finish(response)
  }
}
