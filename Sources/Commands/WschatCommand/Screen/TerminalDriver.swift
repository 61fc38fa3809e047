import EventLoop
import Glibc
import Messenger
import Platform
import Terminal

/// The terminal: its keys and replies become events, and the chat is drawn on it.
final class TerminalDriver {
  /// The minimum interval between two frames that are caused by other users: more are not
  /// perceptible, and at a thousand messages per second each would be drawn.
  static let frameMilliseconds = 33

  private(set) var capabilities: Capabilities
  /// Called when the terminal is gone, or a signal ends the program; with an error message or `nil`.
  var ended: (String?) -> Void = { _ in }
  /// Called when the terminal has told of another capability.
  var learned: () -> Void = {}
  /// Called when the terminal has lost its content, also the pictures.
  var contentWasLost: () -> Void = {}

  private let host: ChatHost
  private let device: TerminalDevice
  private var parser = InputParser()
  private var theme: Theme
  private var differ: Differ
  private var signals: SignalWatch?
  /// SIGTSTP from other processes; Ctrl+Z is an ordinary key.
  private var stops: SignalWatch?
  /// `nil` while an editor has the terminal, or when it is gone.
  private var watch: Watch?
  /// Whether an editor has the terminal.
  private var isLent = false
  private var output: [UInt8] = []
  /// The terminal does not accept output.
  private var isBlocked = false
  /// The title of the window, as it was set last.
  private var shownTitle = ""
  private var drawnAt = Instant(nanoseconds: 0)
  private lazy var frame = Alarm(on: host.dispatcher) {}
  /// Ends the wait for the rest of a key's sequence.
  private lazy var escape = Alarm(on: host.dispatcher) { [unowned self] in
    interpret(parser.timeout())
  }

  init(_ device: TerminalDevice, _ capabilities: Capabilities, _ host: ChatHost) {
    self.device = device
    self.capabilities = capabilities
    self.host = host
    theme = Theme(host.chat.settings, capabilities)
    differ = Differ(
      depth: capabilities.depth, isSynchronized: capabilities.synchronizesOutput,
      showsLinks: capabilities.hasLinks)
  }

  /// The pixels of a cell, if the terminal tells them.
  var cellSize: (width: Int, height: Int)? { device.cellSize() }

  func begin() throws(SystemError) {
    signals = try SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT], on: host.dispatcher) {
      [unowned self] signal in
      switch signal {
      case SIGWINCH: resize()
      case SIGCONT: redraw()
      // Ctrl+C in an editor is the editor's.
      case SIGINT where isLent: break
      default: ended(nil)
      }
    }
    try attach()
    // Asks what the terminal can do.
    if capabilities.mayHaveGraphics, host.chat.settings.pictures == .auto {
      output += KittyGraphics.question
    }
    output += TerminalDevice.questions
  }

  func end() {
    flush()
    device.leave()
  }

  private func attach() throws(SystemError) {
    watch = try Watch(device.descriptor, on: host.dispatcher) { [unowned self] _ in read() }
    try enter()
  }

  private func enter() throws(SystemError) {
    stops = try SignalWatch([SIGTSTP], on: host.dispatcher) { [unowned self] _ in suspend() }
    try device.enter(into: &output)
  }

  // MARK: Input

  private func read() {
    do {
      while let bytes = try device.read() {
        if bytes.isEmpty { return }
        interpret(parser.parse(bytes))
      }
      hangUp(nil)
    } catch {
      hangUp("\(error)")
    }
  }

  /// Handles the loss of the terminal, which would otherwise stay readable forever.
  private func hangUp(_ message: String?) {
    watch = nil
    ended(message)
  }

  private func interpret(_ inputs: [InputEvent]) {
    for input in inputs {
      if case .reply(let reply) = input {
        learn(reply)
      } else {
        // Whoever comes back may have changed it.
        if case .focus(true) = input { LocalTime.followZone() }
        host.post(.input(input), isUrgent: true)
      }
    }
    if escape.due != nil, parser.isWaiting, !parser.hasProgressed { return }
    escape.cancel()
    if let wait = parser.waitMilliseconds { escape.set(afterMilliseconds: wait) }
  }

  /// Handles a reply about the terminal's capabilities.
  private func learn(_ reply: TerminalReply) {
    let before = capabilities
    capabilities.refine(with: reply)
    guard capabilities != before else { return }
    learned()
    if capabilities.hasKittyKeyboard { try? device.useKittyKeyboard(into: &output) }
    theme = Theme(host.chat.settings, capabilities)
    differ.isSynchronized = capabilities.synchronizesOutput
    host.redraw()
  }

  // MARK: Output

  /// Sends what is no part of a frame, unless an editor has the terminal.
  func show(_ bytes: [UInt8]) { if !isLent { output += bytes } }

  func redraw() {
    contentWasLost()
    differ.forget()
    host.redraw()
  }

  private func resize() {
    differ.forget()
    if let size = try? device.size() { host.post(.resized(size), isUrgent: true) }
  }

  /// Draws the chat if it has changed, now or with the next frame.
  /// - Returns: What was drawn.
  func draw() -> Drawing? {
    guard host.isStale, !isLent else { return nil }
    // A slow terminal is sent only the latest frame, not all of them.
    guard output.isEmpty || !isBlocked else { return nil }
    let wait = Self.frameMilliseconds - host.dispatcher.loop.now.milliseconds(since: drawnAt)
    guard host.isUrgent || wait <= 0 else {
      scheduleFrame(afterMilliseconds: wait)
      return nil
    }
    host.isStale = false
    host.isUrgent = false
    drawnAt = host.dispatcher.loop.now
    host.chat.prepareToDraw()
    let drawing = host.chat.draw(theme)
    differ.frame(drawing.grid, into: &output)
    if capabilities.hasTitle {
      let title = host.chat.windowTitle
      if title != shownTitle { output += ControlString.title(title) }
      shownTitle = title
    }
    return drawing
  }

  /// Wakes the loop by then, so that a frame is drawn.
  func scheduleFrame(afterMilliseconds wait: Int = frameMilliseconds) {
    frame.setEarliest(afterMilliseconds: wait)
  }

  func flush() {
    guard !output.isEmpty, let watch else { return }
    do {
      try device.write(&output)
      if isBlocked != !output.isEmpty {
        isBlocked = !output.isEmpty
        try watch.change(for: isBlocked ? [.readable, .writable] : .readable)
      }
    } catch {
      hangUp(nil)
    }
  }

  // MARK: Leaving it

  func suspend() {
    output.removeAll()
    // The shell expects the default action of SIGTSTP of a job.
    stops?.end()
    device.suspend()
    shownTitle = ""
    // Execution resumes here when the shell continues the job.
    do {
      try enter()
      contentWasLost()
      resize()
    } catch {
      ended("\(error)")
    }
  }

  /// Leaves the terminal to an editor.
  func lend() {
    isLent = true
    output.removeAll()
    // Its keys are the editor's, also Ctrl+Z.
    stops?.end()
    watch = nil
    isBlocked = false
    device.leave()
  }

  /// Takes the terminal back for good, because the program ends.
  func reclaim() {
    isLent = false
    device.reclaim()
  }

  /// Takes the terminal back from an editor.
  func takeBack() {
    guard watch == nil, !host.isEnding else { return }
    shownTitle = ""
    do {
      reclaim()
      try attach()
      resize()
    } catch {
      ended("\(error)")
    }
  }
}
