import Relay

/// `GET /v1/samples`: the relay's figures over the last hour, for operators.
extension HTTPExchange {
  func sendSamples(after time: Int64) {
    if let user = call.identity?.user, let problem = loop.charge(requests: 1, to: user) {
      return finish(problem.response)
    }
    finish(loop.world.samples(after: time))
  }
}
