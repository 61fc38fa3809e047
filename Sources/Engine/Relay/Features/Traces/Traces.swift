/// What a loop knows for traces of entries (`LogRequest.Trace`): its last fan-outs, and the answers of
/// the log that wait to be taken.
final class Traces {
  private var fanOuts = FanOuts()
  private var answers: [(ticket: LogRequest.Ticket, result: TraceResult)] = []

  func record(_ fanOut: FanOut) { fanOuts.append(fanOut) }

  func record(_ result: TraceResult, for ticket: LogRequest.Ticket) {
    answers.append((ticket, result))
  }

  func fanOut(of seq: Int64, inRoom room: String) -> FanOut? { fanOuts.find(seq, inRoom: room) }

  /// Returns the answers of the log since the last call.
  func takeAnswers() -> [(ticket: LogRequest.Ticket, result: TraceResult)] {
    if answers.isEmpty { return [] }
    defer { answers = [] }
    return answers
  }
}
