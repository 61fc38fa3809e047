/// The answers about files that wait to be taken, by HTTP requests and by what keeps the bytes.
final class Files {
  private var answers: [(asker: FileAsker, answer: FileAnswer)] = []

  func record(_ answer: FileAnswer, for asker: FileAsker) { answers.append((asker, answer)) }

  /// Returns the answers since the last call.
  func takeAnswers() -> [(asker: FileAsker, answer: FileAnswer)] {
    if answers.isEmpty { return [] }
    defer { answers = [] }
    return answers
  }
}

extension Shard {
  /// Asks the log about files; `takeFileAnswers` returns the answer.
  public mutating func ask(_ question: FileQuestion, for asker: FileAsker) {
    reads.append(.file(question, asker))
  }

  /// Changes what the log knows of files; `takeFileAnswers` returns the answer.
  public mutating func change(_ change: FileChange, for asker: FileAsker) {
    log.append(.file(change, asker))
  }

  /// Returns the answers of the log since the last call.
  public mutating func takeFileAnswers() -> [(asker: FileAsker, answer: FileAnswer)] {
    files.takeAnswers()
  }
}
