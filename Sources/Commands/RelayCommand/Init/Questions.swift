import ArgumentParser
import Glibc
import Platform

/// Answers that flags give, or a person on a terminal. Without a terminal nothing is asked: flags that
/// are missing are collected.
struct Questions {
  let isTerminal = isatty(STDIN_FILENO) == 1
  private(set) var missing: [String] = []

  /// Returns the value of a flag, or else the answer to a question.
  /// - Parameters:
  ///   - standard: the answer if there is none; `nil` = one is needed.
  ///   - problem: returns what is wrong with an answer, as a sentence.
  mutating func answer(
    _ value: String?, flag: String, _ question: String, standard: String? = nil,
    isSecret: Bool = false, problem: (String) -> String? = { _ in nil }
  ) throws -> String {
    func found(_ text: String) -> String? {
      text.isEmpty && standard != "" ? "\(flag) cannot be empty." : problem(text)
    }
    if let value {
      if let problem = found(value) { throw Self.refusal(problem) }
      return value
    }
    guard isTerminal else {
      guard let standard else {
        missing.append(flag)
        return ""
      }
      if let problem = found(standard) { throw Self.refusal(problem) }
      return standard
    }
    let hint = standard.map { $0.isEmpty ? " [none]" : " [\($0)]" } ?? ""
    while true {
      let prompt = "\(question)\(hint): "
      let typed = try isSecret ? Self.hiddenLine(after: prompt) : Self.line(after: prompt)
      let text = typed.isEmpty ? standard ?? "" : typed
      guard let problem = found(text) else { return text }
      StandardError.write("\(problem)\n")
    }
  }

  /// Returns the value of a flag, or the one of its values that a person chooses; `nil` if it is missing.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ value: Choice?, flag: String, _ question: String, _ meaning: (Choice) -> String
  ) throws -> Choice? {
    if let value { return value }
    guard isTerminal else {
      missing.append(flag)
      return nil
    }
    let choices = Array(Choice.allCases)
    let width = choices.reduce(0) { max($0, $1.rawValue.count) }
    StandardError.write("\(question)\n")
    for (index, choice) in choices.enumerated() {
      let gap = String(repeating: " ", count: width - choice.rawValue.count + 2)
      StandardError.write("  \(index + 1)  \(choice.rawValue)\(gap)\(meaning(choice))\n")
    }
    while true {
      let typed = try Self.line(after: "Number or name: ")
      let number = Int(typed).map { $0 - 1 } ?? -1
      if choices.indices.contains(number) { return choices[number] }
      if let named = Choice(rawValue: typed) { return named }
      StandardError.write("Choose one of 1 to \(choices.count).\n")
    }
  }

  /// Throws if flags are missing that no question has replaced.
  func checkComplete() throws {
    if missing.isEmpty { return }
    throw ValidationError(
      "Standard input is no terminal, so nothing is asked; give \(missing.joined(separator: ", "))."
    )
  }

  /// Prints why there is no configuration, and returns the exit code for it.
  static func refusal(_ sentence: String) -> ExitCode {
    StandardError.write("\(sentence) Nothing was written.\n")
    return ExitCode.configuration
  }

  private static func line(after prompt: String) throws -> String {
    StandardError.write(prompt)
    guard let line = readLine() else { throw refusal("\nThe questions were not answered.") }
    return trimmed(line)
  }

  /// Reads a line that the terminal does not show, from the prompt on.
  private static func hiddenLine(after prompt: String) throws -> String {
    var shown = termios()
    guard unsafe tcgetattr(STDIN_FILENO, &shown) == 0 else { return try line(after: prompt) }
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &hidden)
    defer {
      _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &shown)
      StandardError.write("\n")
    }
    return try line(after: prompt)
  }

  private static func trimmed(_ text: String) -> String {
    let start = text.drop { $0.isWhitespace }
    return String(
      start.prefix(
        start.lastIndex { !$0.isWhitespace }.map {
          start.distance(from: start.startIndex, to: $0) + 1
        } ?? 0))
  }
}
