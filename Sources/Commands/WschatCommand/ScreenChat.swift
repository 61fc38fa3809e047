import Archive
import ArgumentParser
import Client
import EventLoop
import Glibc
import Platform
import Messenger
import Terminal
import Wire

/// The full-screen messenger: converts input of the loop, the relay and the keys into events for
/// the `Chat`, performs its effects, and draws it.
final class ScreenChat {
  struct Options {
    var settings: Settings
    /// Opened at the start; `nil` for the list.
    var room: LineChat.Place?
    var stateFolder: String
    /// The user's own name, if it is known before the relay sends it.
    var user: String?
    /// The display name that the token has for that user.
    var displayName: String?
    var capabilities: Capabilities
  }

  enum Token {
    static let terminal: UInt64 = 0
    static let signals: UInt64 = 1
    static let tick: UInt64 = 2
    static let frame: UInt64 = 3
    static let escape: UInt64 = 4
    static let flush: UInt64 = 5
    static let renewal: UInt64 = 6
    static let stops: UInt64 = 7
    static let archive: UInt64 = 8
    static let sharing: UInt64 = 9
    static let find: UInt64 = 10
    static let children: UInt64 = 11
    static let pictures: UInt64 = 12
    static let renewalRetry: UInt64 = 13
  }

  /// The minimum interval between two frames that are caused by other users: more are not
  /// perceptible, and at a thousand messages per second each would be drawn.
  static let frameMilliseconds = 33
  /// Entries from the relay are collected for this long and written to the archive together.
  static let flushMilliseconds = 100
  /// What could not be written is tried again after this time.
  static let flushRetryMilliseconds = 5000
  /// The token command is run again this long after it has failed.
  static let renewalRetryMilliseconds = 60_000

  let options: Options
  let configuration: Client.Configuration
  /// The token after the last renewal.
  var token: String?
  var pictures = TerminalPictures()
  let loop: EventLoop
  let clients: ClientLoop
  let client: Client
  let device: TerminalDevice
  let signals: SignalSource
  let renewal: TokenRenewal?
  var renewalTimer: TimerID?
  var chat: Chat
  /// `nil` if nothing can be stored.
  var archive: Archive?
  /// The user of the archive.
  var archiveUser: String?
  var parser = InputParser()
  var capabilities: Capabilities
  var theme: Theme
  var effects: [Effect] = []
  /// Whether the relay has confirmed the user.
  var isAuthenticated = false
  /// Messages of an earlier run, which may have sent them.
  var restoredLines: Set<String> = []
  /// Conversations whose state must be stored.
  var unsaved: Set<String> = []
  /// Drafts that could not be stored yet.
  var waitingDrafts: [WaitingDraft] = []
  /// The draft of the message that is sent next.
  var endedDraft: Archive.Draft.Version?
  var archiveRegistration: Registration?
  /// When the changes of others are taken next.
  var sharing: (timer: TimerID, due: Instant)?
  /// Their changes are not taken yet.
  var othersHaveWritten = false
  var exitCode: ExitCode?
  /// The exit code to use when the relay has ended the session.
  var endCode: ExitCode?
  var wasWelcomed = false
  /// The message to print after the terminal is restored.
  var exitMessage: String?
  /// Rooms that are joined or being joined.
  var joins: Set<String> = []
  /// Rooms of which the relay has nothing older than the archive.
  var reaches: Set<String> = []
  /// Rooms of which a page of older entries was requested.
  var fetching: Set<String> = []
  /// `nil` if nothing is being searched.
  var archiveSearch: ArchiveSearch?

  private var differ: Differ
  /// The registration of the terminal; `nil` while an editor has it, or when it is gone.
  var registration: Registration?
  var output: [UInt8] = []
  /// The terminal does not accept output.
  var isBlocked = false
  /// The editor that has the terminal.
  var editing: Editing?
  /// SIGCHLD, while there is an editor.
  var children: SignalSource?
  var isStale = true
  /// The title of the window, as it was set last.
  var shownTitle = ""
  /// A key must be answered now, not with the next frame.
  private var isUrgent = true
  private var drawnAt = Instant(nanoseconds: 0)
  var frameTimer: TimerID?
  var tickTimer: TimerID?
  var escapeTimer: TimerID?
  /// SIGTSTP from other processes; Ctrl+Z is an ordinary key.
  var stops: SignalSource?
  private var stopRegistration: Registration?
  var flushTimer: TimerID?

  init(
    _ configuration: Client.Configuration, _ options: Options, tokens: TokenCommand?
  ) throws {
    self.options = options
    self.configuration = configuration
    loop = try EventLoop()
    clients = try ClientLoop(loop)
    client = Client(configuration, on: clients)
    device = try TerminalDevice(
      usesMouse: options.settings.usesMouse, usesLinks: options.capabilities.hasLinks)
    signals = try SignalSource([SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT])
    if let tokens {
      renewal = try TokenRenewal(tokens, on: loop, token: Token.renewal)
    } else {
      renewal = nil
    }
    capabilities = options.capabilities
    theme = Theme(options.settings, capabilities)
    differ = Differ(
      depth: capabilities.depth, isSynchronized: capabilities.synchronizesOutput,
      showsLinks: capabilities.hasLinks)
    chat = Chat(
      settings: options.settings, size: try device.size(), now: WallClock.milliseconds,
      relay: "\(configuration.url)", user: options.user, idPrefix: Self.idPrefix(),
      localTime: LocalTime.init(milliseconds:))
    chat.ownName = options.displayName
    chat.showsLinks = capabilities.hasLinks
  }

  /// The model's messages have ids of their own, separate from those of the client.
  static func idPrefix() -> String {
    var random = SystemRandomNumberGenerator()
    return ClientSession.idPrefix(using: &random)
  }

  /// Runs until the user quits.
  func run() -> ExitCode {
    do {
      _ = try loop.register(signals.descriptor, for: .readable, token: Token.signals)
      registration = try loop.register(device.descriptor, for: .readable, token: Token.terminal)
      try watchForStops()
      try device.enter(into: &output)
    } catch {
      write("wschat: \(error)\n", to: STDERR_FILENO)
      return LineChat.refused
    }
    if let user = options.user { openArchive(of: user) }
    openFirst()
    client.handler = self
    client.start()
    if capabilities.mayHaveGraphics, options.settings.pictures == .auto {
      output += KittyGraphics.question
    }
    output += TerminalDevice.questions
    perform()
    loop.run(self)
    stopEditing()
    chat.putAway(&effects)
    perform()
    flushArchive()
    deletePictures()
    flushOutput()
    pictures.loader?.end()
    device.leave()
    if let exitMessage { write("wschat: \(TerminalText.line(exitMessage))\n", to: STDERR_FILENO) }
    return exitCode ?? .success
  }

  // MARK: Events and effects

  func take(_ event: Event, isUrgent: Bool = false) {
    chat.handle(event, at: WallClock.milliseconds, &effects)
    isStale = true
    if isUrgent { self.isUrgent = true }
    perform()
  }

  private var isPerforming = false

  /// Performs the pending effects and their consequences.
  func perform() {
    if isPerforming { return }
    isPerforming = true
    var next = 0
    while next < effects.count {
      let effect = effects[next]
      next += 1
      perform(effect)
    }
    effects.removeAll(keepingCapacity: true)
    isPerforming = false
  }

  func quit(_ code: ExitCode = .success) {
    guard exitCode == nil else { return }
    exitCode = endCode ?? code
    if endCode == nil { client.close() } else { loop.stop() }
  }

  // MARK: The terminal

  func readTerminal() {
    do {
      while let bytes = try device.read() {
        if bytes.isEmpty { return }
        take(parser.parse(bytes))
      }
      endTerminal()
    } catch {
      exitMessage = "\(error)"
      endTerminal(LineChat.refused)
    }
  }

  /// Handles the loss of the terminal, which would otherwise stay readable forever.
  private func endTerminal(_ code: ExitCode = .success) {
    if let registration { loop.deregister(registration) }
    registration = nil
    quit(code)
  }

  func take(_ inputs: [InputEvent]) {
    for input in inputs {
      if case .reply(let reply) = input {
        learn(reply)
      } else {
        // Whoever comes back may have changed it.
        if case .focus(true) = input { LocalTime.followZone() }
        take(.input(input), isUrgent: true)
      }
    }
    if let escapeTimer {
      if parser.isWaiting, !parser.hasProgressed { return }
      loop.cancel(escapeTimer)
    }
    escapeTimer = parser.waitMilliseconds.map {
      loop.schedule(afterMilliseconds: $0, token: Token.escape)
    }
  }

  /// Handles a reply about the terminal's capabilities.
  private func learn(_ reply: TerminalReply) {
    let before = capabilities
    capabilities.refine(with: reply)
    guard capabilities != before else { return }
    showPictures()
    if capabilities.hasKittyKeyboard { try? device.useKittyKeyboard(into: &output) }
    theme = Theme(options.settings, capabilities)
    differ.isSynchronized = capabilities.synchronizesOutput
    isStale = true
    isUrgent = true
  }

  func resize() {
    differ.forget()
    if let size = try? device.size() { take(.resized(size), isUrgent: true) }
  }

  func redraw() {
    deletePictures()
    differ.forget()
    isStale = true
    isUrgent = true
  }

  func suspend() {
    output.removeAll()
    unwatchStops()
    device.suspend()
    shownTitle = ""
    // Execution resumes here when the shell continues the job.
    do {
      try watchForStops()
      try device.enter(into: &output)
      deletePictures()
      resize()
    } catch {
      exitMessage = "\(error)"
      quit(LineChat.refused)
    }
  }

  /// Restores the default action of the signal, as the shell expects of a job.
  func unwatchStops() {
    if let stopRegistration { loop.deregister(stopRegistration) }
    stopRegistration = nil
    stops = nil
  }

  func watchForStops() throws(SystemError) {
    let source = try SignalSource([SIGTSTP])
    stopRegistration = try loop.register(
      source.descriptor, for: .readable, token: Token.stops)
    stops = consume source
  }

  func show(_ bytes: [UInt8]) { if editing == nil { output += bytes } }

  func draw() {
    guard isStale, editing == nil else { return }
    // A slow terminal is sent only the latest frame, not all of them.
    guard output.isEmpty || !isBlocked else { return }
    let wait = Self.frameMilliseconds - loop.now.milliseconds(since: drawnAt)
    guard isUrgent || wait <= 0 else { return scheduleFrame(afterMilliseconds: wait) }
    isStale = false
    isUrgent = false
    drawnAt = loop.now
    chat.prepareToDraw()
    let drawing = chat.draw(theme)
    differ.frame(drawing.grid, into: &output)
    followPictures(drawing)
    guard capabilities.hasTitle else { return }
    let title = chat.windowTitle
    if title != shownTitle { output += ControlString.title(title) }
    shownTitle = title
  }

  func scheduleFrame(afterMilliseconds wait: Int) {
    if frameTimer == nil {
      frameTimer = loop.schedule(afterMilliseconds: wait, token: Token.frame)
    }
  }

  func flushOutput() {
    guard !output.isEmpty, let registration else { return }
    do {
      try device.write(&output)
      if isBlocked != !output.isEmpty {
        isBlocked = !output.isEmpty
        try loop.change(registration, for: isBlocked ? [.readable, .writable] : .readable)
      }
    } catch {
      endTerminal()
    }
  }

  func scheduleTick() {
    guard let deadline = chat.deadline else { return }
    let wait = Int(clamping: max(0, deadline - WallClock.milliseconds))
    let at = loop.now.adding(milliseconds: wait)
    if let tickTimer, loop.reschedule(tickTimer, at: at) { return }
    tickTimer = loop.schedule(at: at, token: Token.tick)
  }

  func scheduleFlush(afterMilliseconds milliseconds: Int = flushMilliseconds) {
    guard flushTimer == nil else { return }
    flushTimer = loop.schedule(afterMilliseconds: milliseconds, token: Token.flush)
  }
}
