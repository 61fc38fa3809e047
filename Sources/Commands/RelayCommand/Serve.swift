import ArgumentParser
import EventLoop
import Glibc
import Platform
internal import RelayConfiguration
import Server

/// The subcommand `serve`: runs the server until a signal ends it.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the relay in the foreground.",
    discussion: """
      On SIGTERM and SIGINT the relay stores and acknowledges what it has accepted, tells clients \
      when to reconnect, and exits. On SIGHUP it reloads the log level, the certificate and its \
      key, the keys and conditions of tokens, auth.banned and auth.operators.
      """)

  @OptionGroup var options: ConfigurationOptions

  @Option(help: ArgumentHelp("The address for clients.", valueName: "host:port"))
  var listen: String?

  @Option(
    help: ArgumentHelp("The folder that holds the log.", valueName: "dir"), completion: .directory)
  var data: String?

  @Flag(help: "Do not serve the web page.")
  var noWeb = false

  private var overrides: Configuration.Overrides {
    Configuration.Overrides(listen: listen, data: data, noWeb: noWeb)
  }

  func run() throws {
    let configuration = try options.load(overrides)
    OperatorLog.setLevel(configuration.logLevel)
    do {
      try serve(configuration)
    } catch {
      StandardError.write("\(error)\n")
      throw switch (error as? ServerError)?.kind {
      case .configuration: ExitCode.configuration
      case .brokenData: ExitCode.brokenData
      case .environment, nil: ExitCode.environment
      }
    }
  }

  private func serve(_ configuration: Configuration) throws {
    let signals = try SignalSource()
    var isCancelled = false
    let server: Server
    do throws(ServerError) {
      server = try Server(configuration, logger: OperatorLog.logger()) {
        while let signal = signals.next() { isCancelled = isCancelled || signal != SIGHUP }
        return isCancelled
      }
    } catch {
      if isCancelled { return }
      throw error
    }
    StandardError.write(
      "listening on \(server.scheme)://\(server.address)\(configuration.pathPrefix)/ws\n")
    if let link = server.firstLink {
      StandardError.write(
        "This relay has no account yet. Open this link to sign in as its first operator:\n\(link)\n"
      )
    }
    while !isOver(signals, server) {}
    server.shutDown()
    server.waitUntilStopped()
  }

  /// Waits for signals and handles them; returns `true` if one of them ends the relay.
  private func isOver(_ signals: borrowing SignalSource, _ server: Server) -> Bool {
    var poll = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe Glibc.poll(&poll, 1, -1)
    while let signal = signals.next() {
      if signal != SIGHUP { return true }
      if let configuration = try? options.load(overrides) {
        OperatorLog.setLevel(configuration.logLevel)
        server.reload(configuration)
      }
    }
    return false
  }
}
