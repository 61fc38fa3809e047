import Accounts
import Relay
import WebSocket
import Wire

/// A request by which an operator lists the accounts or changes one.
final class AdministrationExchange: OperatorExchange {
  private let request: AccountCall.Administration

  init(
    _ request: AccountCall.Administration, _ call: HTTPCall, _ id: ExchangeID,
    _ loop: ConnectionLoop, _ connection: ServerConnection
  ) {
    self.request = request
    super.init(call, id, loop, connection)
  }

  override func act(_ content: [UInt8]) {
    loop.world.ask(
      AccountCall(
        .administer(request),
        caller: AccountCall.Caller(
          user: identity.isRelay ? AccountCall.Caller.relay : identity.user,
          session: identity.device, isOperator: true),
        content: content, address: connection.host?.description ?? "this machine"), for: id)
  }

  override func take(_ answer: AccountAnswer) {
    switch answer.content {
    case .problem(let problem): finish(HTTPProblem(problem).response)
    case .json(let json): record(answer.act, then: HTTPResponse(status: answer.status, json: json))
    case .nothing, .redirect: record(answer.act, then: HTTPResponse(status: answer.status))
    }
  }

  private func record(_ act: AccountAnswer.Act?, then response: HTTPResponse) {
    guard let act else { return finish(response) }
    record(act.verb, user: act.user, session: act.session, then: response)
  }
}
