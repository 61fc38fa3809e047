import Platform

/// Runs a token command in a thread while the chat continues.
final class TokenRenewal {
  typealias Outcome = Result<String, TokenCommand.Failure>

  /// Called when the command has ended.
  var ended: (Outcome) -> Void = { _ in }
  private let command: TokenCommand
  private let results: Mailbox<Outcome>
  private var watch: Watch?
  private var isRunning = false

  init(_ command: TokenCommand, on dispatcher: Dispatcher) throws(SystemError) {
    self.command = command
    results = try Mailbox()
    watch = try Watch(results.descriptor, on: dispatcher) { [unowned self] _ in
      var news: [Outcome] = []
      results.drain(into: &news)
      guard let outcome = news.first else { return }
      isRunning = false
      ended(outcome)
    }
  }

  func begin() {
    guard !isRunning else { return }
    isRunning = true
    let (command, results) = (command, results)
    do {
      // Dropped at once: the thread ends by itself.
      _ = try WorkerThread(name: "token") {
        results.post(
          Result { () throws(TokenCommand.Failure) in try command.run(hasTerminal: false) })
      }
    } catch {
      results.post(
        .failure(TokenCommand.Failure(description: "--token-command cannot run: \(error)")))
    }
  }
}
