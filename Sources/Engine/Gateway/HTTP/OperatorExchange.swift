import Relay
import WebSocket
import Wire

/// A request by which an operator changes what is not in the log. What was done is recorded in `sys:audit`
/// before it is answered.
class OperatorExchange: SessionExchange {
  /// The answer, once the act is recorded.
  private var outcome: HTTPResponse?

  override func start(_ content: [UInt8]) {
    if let problem = loop.charge(requests: 1, bytes: content.count, to: identity.user) {
      return finish(problem.response)
    }
    act(content)
  }

  /// Does what the request is for.
  func act(_ content: [UInt8]) { preconditionFailure("a subclass acts") }

  /// Records what was done, and then answers.
  final func record(
    _ verb: String, user: String, session: String? = nil, then outcome: HTTPResponse
  ) {
    self.outcome = outcome
    let act = Act(by: identity.user, verb: verb, user: user, session: session)
    loop.shard.record(act, for: open(), now: loop.now)
  }

  override func take(_ messages: [InternalMessage]) {
    guard let outcome else { return }
    for message in messages {
      switch message.value {
      case .ok: answer(outcome)
      case .error(let error):
        answer(HTTPProblem.unavailable("It is done, but not recorded: \(error.message)").response)
      default: break
      }
    }
  }

  override func timeOut() {
    if outcome == nil { return super.timeOut() }
    finish(
      HTTPProblem.unavailable("It is done, but it is not known whether it is recorded.").response)
  }
}
