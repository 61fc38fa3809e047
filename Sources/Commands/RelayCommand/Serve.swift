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
      (LISTEN_FDS) takes precedence over the address. With --take-over, the relay that runs on the \
      data folder goes on until this one can open the store, and ends when this one serves; no \
      connection is refused meanwhile.
      """)

  @OptionGroup var options: ConfigurationOptions

  @Option(help: ArgumentHelp("The address for clients.", valueName: "host:port"))
  var listen: String?

  @Option(
    help: ArgumentHelp("The folder that holds the log.", valueName: "dir"), completion: .directory)
  var data: String?

  @Flag(help: "Do not serve the web page.")
  var noWeb = false

  @Flag(help: "Take over from the relay that runs on the data folder, if one does.")
  var takeOver = false

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
      let passed = try Server.adopt(manager)
      if takeOver, passed != nil {
        StandardError.write(
          "--take-over cannot be combined with a socket of the service manager (LISTEN_FDS), which stays open while the relay is restarted. Restart it.\n"
        )
        throw ExitCode.configuration
      }
      let overrides = overrides(passed?.address)
      let configuration = try options.load(overrides)
      OperatorLog.configure(configuration)
      try serve(configuration, overrides, passed?.sockets, manager, logger)
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
    _ passed: ListeningSockets?, _ manager: ServiceManager, _ logger: Logger
  ) throws {
    let signals = try SignalSource()
    var isCancelled = false
    manager.tell("STATUS=opening the log")
    var server: Server
    do throws(ServerError) {
      let predecessor = takeOver ? try Predecessor.find(configuration) : nil
      server = try Server(
        configuration, logger: logger, sockets: passed, predecessor: predecessor
      ) {
        while let signal = signals.next() { isCancelled = isCancelled || signal != SIGHUP }
        return isCancelled
      }
      predecessor?.tellServing()
    } catch {
      if isCancelled { return }
      throw error
    }
    if !manager.sockets.isEmpty {
      OperatorLog.announce(
        "That is the address of the socket unit. The address in the configuration (listen) is not used."
      )
    }
    if let link = server.firstLink {
      OperatorLog.announce(
        "This relay has no account yet. Open this link to sign in as its first operator:", link)
    }
    var current = configuration
    while true {
      let status =
        "listening on \(server.scheme)://\(server.address)\(configuration.pathPrefix)/ws"
      let socket = TakeOverSocket(current, logger)
      OperatorLog.announce(status)
      manager.tell("READY=1", "STATUS=\(status)")
      var watchdog = Watchdog(manager, of: server, status: status)
      let end = awaitEnd(of: server, signals, socket, &watchdog) {
        manager.tell(
          "RELOADING=1", "MONOTONIC_USEC=\(Platform.Instant.now().nanoseconds / 1000)")
        reload(server, overrides, from: &current, startedWith: configuration, logger)
        manager.tell("READY=1")
      }
      switch consume end {
      case .signal(let signal):
        logger.info("The relay stops.", metadata: ["signal": "\(Self.name(of: signal))"])
        manager.tell("STOPPING=1", "STATUS=storing what was accepted, and disconnecting clients")
        return stop(server, logger) { server.shutDown() }
      case .takenOver(let successor):
        guard let next = try handOver(server, current, to: successor, signals, manager, logger)
        else { return }
        server = next
      }
    }
  }

  private func stop(_ server: Server, _ logger: Logger, _ shutDown: () -> Void) {
    let began = Instant.now()
    shutDown()
    server.closeStore()
    server.waitUntilStopped()
    let milliseconds = (Instant.now().nanoseconds - began.nanoseconds) / 1_000_000
    logger.info(
      "The relay has stopped.", metadata: ["drain_ms": .stringConvertible(milliseconds)])
  }

  /// Why a relay ends.
  private enum End: ~Copyable {
    case signal(Int32)
    case takenOver(by: Successor)
  }

  /// Waits for a signal that ends the relay, or for another process that takes over.
  /// - Parameter reload: called for each SIGHUP before it.
  private func awaitEnd(
    of server: Server, _ signals: borrowing SignalSource, _ socket: consuming TakeOverSocket?,
    _ watchdog: inout Watchdog?, reload: () -> Void
  ) -> End {
    while true {
      watchdog?.check()
      var events = [signals.descriptor, socket?.descriptor ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      _ = unsafe Glibc.poll(&events, 2, Int32(clamping: watchdog?.intervalMilliseconds ?? -1))
      while let signal = signals.next() {
        if signal != SIGHUP { return .signal(signal) }
        reload()
      }
      if events[1].revents != 0, let successor = socket?.next(server) {
        return .takenOver(by: successor)
      }
    }
  }

  /// Gives the store to another process, and waits until that serves.
  /// - Returns: the relay that goes on instead, if the other process has ended; `nil` if this one may end.
  private func handOver(
    _ server: Server, _ configuration: Configuration, to successor: borrowing Successor,
    _ signals: borrowing SignalSource, _ manager: ServiceManager, _ logger: Logger
  ) throws(ServerError) -> Server? {
    let process = successor.process
    logger.info("Another process takes over.", metadata: ["process": .stringConvertible(process)])
    let began = Instant.now()
    server.shutDown(isTakenOver: true)
    server.closeStore()
    let milliseconds = (Instant.now().nanoseconds - began.nanoseconds) / 1_000_000
    logger.info("The store is closed.", metadata: ["after_ms": .stringConvertible(milliseconds)])
    successor.release()
    if serves(successor, signals, manager) {
      manager.tell("MAINPID=\(process)")
      server.waitUntilStopped()
      logger.info("Another process has taken over. The relay has stopped.")
      return nil
    }
    logger.error(
      "The process that was to take over has ended before it served. The relay goes on.",
      metadata: ["process": .stringConvertible(process)])
    let next = try Server(configuration, logger: logger, sockets: server.sockets)
    // Its last connections may take seconds to end.
    _ = try? WorkerThread(name: "leaving") { server.waitUntilStopped() }
    return next
  }

  /// Waits until a process that has the store serves; `false` if it ends instead. A signal ends the wait, and this
  /// process.
  private func serves(
    _ successor: borrowing Successor, _ signals: borrowing SignalSource, _ manager: ServiceManager
  ) -> Bool {
    while true {
      manager.tell("WATCHDOG=1")
      var events = [signals.descriptor, successor.descriptor].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      _ = unsafe Glibc.poll(&events, 2, Self.signOfLifeMilliseconds)
      if events[1].revents != 0 { return successor.hasBegunToServe() }
      while let signal = signals.next() { if signal != SIGHUP { return true } }
    }
  }

  private static let signOfLifeMilliseconds: Int32 = 1000

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
