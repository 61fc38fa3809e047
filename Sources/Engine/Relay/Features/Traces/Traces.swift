/// What a loop knows for traces of entries (`LogRequest.Trace`): its last fan-outs, and the answers of
/// the log that wait to be taken.
struct Traces {
  private var fanOuts = FanOuts()
  private var answers: [(ticket: LogRequest.Trace.Ticket, result: TraceResult)] = []

  mutating func record(_ fanOut: FanOut) { fanOuts.append(fanOut) }

  mutating func record(_ result: TraceResult, for ticket: LogRequest.Trace.Ticket) {
    answers.append((ticket, result))
  }

  func fanOut(of seq: Int64, inRoom room: String) -> FanOut? { fanOuts.find(seq, inRoom: room) }

  /// Returns the answers of the log since the last call.
  mutating func takeAnswers() -> [(ticket: LogRequest.Trace.Ticket, result: TraceResult)] {
    if answers.isEmpty { return [] }
    defer { answers = [] }
    return answers
  }
}
