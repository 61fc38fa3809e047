import Relay
import WebSocket
import Wire

/// A request about files: asks the log which files there are, and what keeps their bytes for these.
class FileExchange: HTTPExchange {
  let settings: FileSettings
  /// The user who has made the request; empty for one by a link.
  let user: String

  init(
    _ settings: FileSettings, _ call: HTTPCall, _ id: ExchangeID, _ loop: ConnectionLoop,
    _ connection: ServerConnection
  ) {
    self.settings = settings
    user = call.identity?.user ?? ""
    super.init(call, id, loop, connection)
  }

  private var asker: FileAsker {
    .exchange(LogRequest.Ticket(connection: Int32(id.stream), exchange: id.serial))
  }

  final func ask(_ question: FileQuestion) { loop.shard.ask(question, for: asker) }
  final func change(_ change: FileChange) { loop.shard.change(change, for: asker) }
  final func keep(_ work: FileWork) { loop.world.keep(work, for: .exchange(id)) }

  /// Asks for a file as the user whose request or link it is.
  final func askForReadable(_ file: String, as identity: Identity) {
    ask(
      .readable(
        file,
        by: ReadRequest.Asker(
          user: identity.user, isOperator: loop.context.authenticator.isOperator(identity),
          issuer: identity.issuer, now: loop.now.wall), identity.rights))
  }

  /// Answers, and ends the connection if content of the request has not arrived.
  func conclude(_ response: HTTPResponse) {
    if isReading, contentReceived < call.contentBytes {
      refuseContent(response)
    } else {
      finish(response)
    }
  }

  final func conclude(_ problem: HTTPProblem) { conclude(problem.response) }

  final func refuse(_ refusal: FileRefusal) {
    if let rule = refusal.rule { loop.countViolation(rule, by: connection) }
    conclude(refusal.problem)
  }

  final func concludeUnavailable() {
    conclude(HTTPProblem.unavailable("The log cannot be asked about files now; try again."))
  }
}

extension ConnectionLoop {
  func fileExchange(
    _ request: FileRequest, _ call: HTTPCall, _ id: ExchangeID, _ connection: ServerConnection
  ) -> HTTPExchange {
    guard let settings = context.files else {
      preconditionFailure("the router refuses requests for files that the relay does not keep")
    }
    switch request {
    case .create(let bytes, let metadata, let checksum):
      return UploadExchange(
        .create(bytes: bytes, metadata: metadata), checksum, settings, call, id, self, connection)
    case .append(let upload, let offset, let checksum):
      return UploadExchange(
        .append(to: upload, offset: offset), checksum, settings, call, id, self, connection)
    case .progress(let upload):
      return ProgressExchange(of: upload, terminates: false, settings, call, id, self, connection)
    case .terminate(let upload):
      return ProgressExchange(of: upload, terminates: true, settings, call, id, self, connection)
    case .content(let file, let isThumbnail, let request):
      return DownloadExchange(
        file, isThumbnail: isThumbnail, request, settings, call, id, self, connection)
    case .link(let file): return LinkExchange(to: file, settings, call, id, self, connection)
    }
  }

  /// Takes the log's answers about files.
  func takeFileAnswers() {
    for (asker, answer) in shard.takeFileAnswers() {
      switch asker {
      case .exchange(let ticket):
        exchange(
          ExchangeID(loop: index, stream: Int(ticket.connection), serial: ticket.exchange))?
          .take(answer)
      case .upkeep: continueUpkeep(answer)
      }
    }
  }

  /// Takes an answer of what keeps the bytes.
  func take(_ result: FileWorkResult, for worker: FileWorker) {
    switch worker {
    case .exchange(let id): exchange(id)?.take(result)
    case .upkeep: continueUpkeep(result)
    }
  }
}
