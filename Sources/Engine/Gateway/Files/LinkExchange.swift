import Relay
import WebSocket
import Wire

/// `POST /v1/files/{id}/link`: makes an address of a file that needs no other credentials.
final class LinkExchange: FileExchange {
  private let file: String

  init(
    to file: String, _ settings: FileSettings, _ call: HTTPCall, _ id: ExchangeID,
    _ loop: ConnectionLoop, _ connection: ServerConnection
  ) {
    self.file = file
    super.init(settings, call, id, loop, connection)
  }

  override func start(_ content: [UInt8]) {
    if let problem = loop.charge(requests: 1, to: user) { return finish(problem.response) }
    guard let identity = call.identity else { return }
    // The link has the rights of the user. A token may have fewer, and must not get more by a link.
    askForReadable(file, as: identity)
  }

  override func take(_ answer: FileAnswer) {
    guard case .file(let found) = answer else { return concludeUnavailable() }
    guard found != nil else { return conclude(HTTPProblem.noFile(file)) }
    let until = loop.now.wall + FileLink.milliseconds
    let link = FileLink(to: file, for: user, until: until, settings.code)
    let url = loop.context.router.address(ofFile: file, link)
    finish(
      HTTPResponse(status: 200, json: Array(#"{"url":"\#(url)","expires_at":\#(until)}"#.utf8)))
  }
}
