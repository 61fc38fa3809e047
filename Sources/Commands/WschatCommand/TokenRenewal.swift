import EventLoop
import Platform

/// Runs a token command in a thread while the chat continues.
final class TokenRenewal {
  private let command: TokenCommand
  private let results: Mailbox<Result<String, TokenCommand.Failure>>
  private(set) var isRunning = false

  /// - Parameter token: The loop's token for the event that a result can be taken.
  init(_ command: TokenCommand, on loop: EventLoop, token: UInt64) throws(SystemError) {
    self.command = command
    results = try Mailbox()
    _ = try loop.register(results.descriptor, for: .readable, token: token)
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

  func take() -> Result<String, TokenCommand.Failure>? {
    var news: [Result<String, TokenCommand.Failure>] = []
    results.drain(into: &news)
    if !news.isEmpty { isRunning = false }
    return news.first
  }
}
