import Client
import EventLoop
import Glibc
import Messenger
import Platform
import TLS
import Terminal

/// `wschat login` while it waits: shows the code, and stores the login.
final class SignIn {
  private let dispatcher: Dispatcher
  private let driver: DeviceLoginDriver
  private let input: Input
  private let url: RelayURL
  private let capabilities: Capabilities
  private var shownCode: String?
  private var shownProblem: String?
  private var outcome: DeviceLogin.Outcome?

  init(_ url: RelayURL, _ trust: TLSTrust) throws(SystemError) {
    self.url = url
    capabilities = Capabilities { Environment[$0] }
    dispatcher = try Dispatcher()
    driver = try DeviceLoginDriver(url, trust, on: dispatcher)
    input = Input(descriptor: STDIN_FILENO, on: dispatcher)
    driver.changed = { [unowned self] in follow($0) }
    input.receive = { [unowned self] in receive($0) }
  }

  /// Waits until the login has ended.
  /// - Returns: `nil` if a signal has ended it.
  func run() throws(SystemError) -> DeviceLogin.Outcome? {
    let signals = try SignalWatch([SIGINT, SIGTERM, SIGHUP], on: dispatcher) { [unowned self] _ in
      outcome = nil
      dispatcher.loop.stop()
    }
    driver.begin()
    dispatcher.run()
    driver.end()
    input.close()
    signals.end()
    return outcome
  }

  private func follow(_ state: DeviceLogin.State) {
    switch state {
    case .starting: break
    case .waiting(let code, let problem):
      if shownCode != code.userCode { show(code) }
      shownCode = code.userCode
      if let problem, problem != shownProblem {
        complain("\(problem); the relay is asked again")
      }
      shownProblem = problem
    case .ended(let outcome):
      self.outcome = outcome
      guard outcome == .expired, isatty(STDIN_FILENO) == 1 else { return dispatcher.loop.stop() }
      write(
        "The code has expired. Press Enter for a new one, or Ctrl+C to end.\n", to: STDOUT_FILENO)
      input.resume()
    }
  }

  /// Enter asks for a new code, once the old one has expired.
  private func receive(_ chunk: Input.Chunk) -> Bool {
    guard case .bytes(let bytes) = chunk else {
      dispatcher.loop.stop()
      return false
    }
    guard bytes.contains(UInt8(ascii: "\n")) else { return true }
    outcome = nil
    driver.begin()
    return false
  }

  private func show(_ code: DeviceCode) {
    var output = Output(descriptor: STDOUT_FILENO)
    output.append("To sign in to \(url.authority), open this link on a device with a browser:\n\n")
    output.append("    \(code.completeLink ?? code.link)\n\n")
    if code.isForeign {
      output.append(
        "Warning: this is not a page of \(url.authority). Open it only if you expect it.\n\n")
    }
    if let lines = qr(code) { output.append(lines) }
    output.append("Allow it there if it shows this code:  \(code.userCode)\n")
    output.append("Waiting. Ctrl+C ends it.\n")
    _ = output.flush()
  }

  /// Returns the QR code, if the terminal can show it.
  private func qr(_ code: DeviceCode) -> [UInt8]? {
    guard isatty(STDOUT_FILENO) == 1, capabilities.hasUTF8, capabilities.depth != .none,
      let qr = QRCode(code.qr)
    else { return nil }
    var window = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0 else { return nil }
    // Not more than is seen at once, with the code below it and the cursor's line.
    let size = Size(columns: Int(window.ws_col), rows: Int(window.ws_row) - 3)
    return qr.quietZone(within: size).map { zone in
      qr.lines(quietZone: zone, depth: capabilities.depth) + [0x0A]
    }
  }
}
