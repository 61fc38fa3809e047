import Synchronization
package import WebSocket

/// Asks all loops something for one request: each loop adds its part, and the last one notifies the loop
/// that asked. This way the loops neither lock nor share anything when they serve messages.
package protocol LoopSurvey: Sendable {
  var exchange: ExchangeID { get }
  /// Adds the part of one loop.
  /// - Returns: whether it was the last loop.
  func add(_ loop: ConnectionLoop) -> Bool
  /// Returns the answer, unless the exchange has something to do before; called on the loop that asked, once all
  /// have added their part.
  func response(on loop: ConnectionLoop) -> HTTPResponse?
}

private final class SurveyOf<Part: Sendable>: LoopSurvey {
  let exchange: ExchangeID
  private let part: @Sendable (ConnectionLoop) -> Part
  private let answer: @Sendable (ConnectionLoop, [Part]) -> HTTPResponse?
  private let state: Mutex<(missing: Int, parts: [(loop: Int, part: Part)])>

  init(
    for exchange: ExchangeID, loops: Int, _ part: @escaping @Sendable (ConnectionLoop) -> Part,
    _ answer: @escaping @Sendable (ConnectionLoop, [Part]) -> HTTPResponse?
  ) {
    self.exchange = exchange
    self.part = part
    self.answer = answer
    state = Mutex((loops, []))
  }

  func add(_ loop: ConnectionLoop) -> Bool {
    let part = part(loop)
    return state.withLock { state in
      state.parts.append((loop.index, part))
      state.missing -= 1
      return state.missing == 0
    }
  }

  func response(on loop: ConnectionLoop) -> HTTPResponse? {
    let parts = state.withLock { $0.parts }
    return answer(loop, parts.sorted { $0.loop < $1.loop }.map(\.part))
  }
}

extension ConnectionLoop {
  /// Asks all loops for their part of the answer to a request.
  /// - Parameter answer: gets the parts in the order of the loops.
  func survey<Part: Sendable>(
    for exchange: ExchangeID, _ part: @escaping @Sendable (ConnectionLoop) -> Part,
    answer: @escaping @Sendable (ConnectionLoop, [Part]) -> HTTPResponse?
  ) {
    let survey = SurveyOf(for: exchange, loops: context.loopCount, part, answer)
    for loop in 0..<context.loopCount { world.post(.surveyed(survey), to: loop) }
  }

  func add(to survey: any LoopSurvey) {
    if survey.add(self) { world.post(.surveyEnded(survey), to: survey.exchange.loop) }
  }

  func answer(_ survey: any LoopSurvey) {
    if let response = survey.response(on: self) { exchange(survey.exchange)?.finish(response) }
  }
}
