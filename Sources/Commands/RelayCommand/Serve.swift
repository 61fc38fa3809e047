import ArgumentParser
import EventLoop
import Glibc
import Logging
import Platform
internal import RelayConfiguration
import Server

/// The subcommand `serve`: runs the server until a signal ends it.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the relay in the foreground.",
    discussion: """
      On SIGTERM and SIGINT the relay stores and acknowledges what it has accepted, tells clients \
      when to reconnect, and exits. On SIGHUP it reloads the log's level and format, the \
      certificate and its key, the keys and conditions of tokens, auth.banned, auth.operators, \
      retention and log.keep_entries_per_room. A socket that the service manager passes \
      (LISTEN_FDS) takes precedence over the address.
      """)

  @OptionGroup var options: ConfigurationOptions

  @Option(help: ArgumentHelp("The address for clients.", valueName: "host:port"))
  var listen: String?

  @Option(
    help: ArgumentHelp("The folder that holds the log.", valueName: "dir"), completion: .directory)
  var data: String?

  @Flag(help: "Do not serve the web page.")
  var noWeb = false

  /// - Parameter passed: the address of the socket that the relay was started with, which takes
  ///   precedence.
  private func overrides(_ passed: Address?) -> Configuration.Overrides {
    Configuration.Overrides(
      listen: passed.map { "\($0)" } ?? listen, data: data, noWeb: noWeb)
  }

  func run() throws {
    let logger = OperatorLog.logger()
    do {
      let manager = ServiceManager(environment: Environment.variables, process: getpid())
      let listener = try Server.adopt(manager)
      let address: Address? =
        switch listener {
        case .some(let listener): listener.address
        case nil: nil
        }
      let overrides = overrides(address)
      let configuration = try options.load(overrides)
      OperatorLog.configure(configuration)
      try serve(configuration, overrides, listener, manager, logger)
    } catch let code as ExitCode {
      throw code
    } catch {
      for line in "\(error)".split(separator: "\n") { logger.critical("\(line)") }
      throw switch (error as? ServerError)?.kind {
      case .configuration: ExitCode.configuration
      case .brokenData: ExitCode.brokenData
      case .environment, nil: ExitCode.environment
      }
    }
  }

  private func serve(
    _ configuration: Configuration, _ overrides: Configuration.Overrides,
    _ listener: consuming Listener?, _ manager: ServiceManager, _ logger: Logger
  ) throws {
    let signals = try SignalSource()
    var isCancelled = false
    manager.tell("STATUS=opening the log")
    let server: Server
    do throws(ServerError) {
      server = try Server(configuration, logger: logger, listener: listener) {
        while let signal = signals.next() { isCancelled = isCancelled || signal != SIGHUP }
        return isCancelled
      }
    } catch {
      if isCancelled { return }
      throw error
    }
    let status = "listening on \(server.scheme)://\(server.address)\(configuration.pathPrefix)/ws"
    OperatorLog.announce(status)
    if !manager.sockets.isEmpty {
      OperatorLog.announce(
        "That is the address of the socket unit. The address in the configuration (listen) is not used."
      )
    }
    if let link = server.firstLink {
      OperatorLog.announce(
        "This relay has no account yet. Open this link to sign in as its first operator:", link)
    }
    manager.tell("READY=1", "STATUS=\(status)")
    var current = configuration
    var watchdog = Watchdog(manager, of: server, status: status)
    let signal = awaitEnd(signals, &watchdog) {
      manager.tell(
        "RELOADING=1", "MONOTONIC_USEC=\(Platform.Instant.now().nanoseconds / 1000)")
      reload(server, overrides, from: &current, startedWith: configuration, logger)
      manager.tell("READY=1")
    }
    logger.info("The relay stops.", metadata: ["signal": "\(Self.name(of: signal))"])
    manager.tell("STOPPING=1", "STATUS=storing what was accepted, and disconnecting clients")
    let began = Instant.now()
    server.shutDown()
    server.waitUntilStopped()
    let milliseconds = (Instant.now().nanoseconds - began.nanoseconds) / 1_000_000
    logger.info(
      "The relay has stopped.", metadata: ["drain_ms": .stringConvertible(milliseconds)])
  }

  /// Waits for a signal that ends the relay, and returns it.
  /// - Parameter reload: called for each SIGHUP before it.
  private func awaitEnd(
    _ signals: borrowing SignalSource, _ watchdog: inout Watchdog?, reload: () -> Void
  ) -> Int32 {
    while true {
      watchdog?.check()
      var poll = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe Glibc.poll(&poll, 1, Int32(clamping: watchdog?.intervalMilliseconds ?? -1))
      while let signal = signals.next() {
        if signal != SIGHUP { return signal }
        reload()
      }
    }
  }

  private func reload(
    _ server: Server, _ overrides: Configuration.Overrides, from current: inout Configuration,
    startedWith first: Configuration, _ logger: Logger
  ) {
    do throws(ConfigurationError) {
      let new = try options.read(overrides)
      OperatorLog.configure(new)
      server.reload(
        new, changed: new.changedKeys(from: current),
        changedSinceStart: new.changedKeys(from: first))
      current = new
    } catch {
      for problem in error.problems {
        logger.error("The configuration was not reloaded, and the relay goes on: \(problem)")
      }
    }
  }

  private static func name(of signal: Int32) -> String {
    switch signal {
    case SIGTERM: "SIGTERM"
    case SIGINT: "SIGINT"
    default: "\(signal)"
    }
  }
}
