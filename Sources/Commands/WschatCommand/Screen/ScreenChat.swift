import Archive
import ArgumentParser
import Client
import EventLoop
import Glibc
import Messenger
import Platform
import Terminal
import Wire

/// The full-screen messenger: the loop in which drivers post events to the chat and perform its
/// effects. Each driver has its own descriptors, timers and state.
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
    /// The login that the token is from.
    var login: Login?
  }

  private let options: Options
  private let dispatcher: Dispatcher
  private let host: ChatHost
  private let client: Client
  private let terminal: TerminalDriver
  private let editor: EditorDriver
  private let pictures: PictureDriver
  private let thumbnails: ThumbnailDriver
  private let desktop: DesktopDriver
  private let files: FileDriver
  private let store: ArchiveDriver
  private let finding: FindingDriver
  private let relay: RelayDriver
  private let sharing: SharingDriver
  private let signIn: SignInDriver
  /// When the chat has something to do.
  private lazy var tick = Alarm(on: dispatcher) { [unowned self] in
    LocalTime.followZone()
    host.post(.tick)
  }
  private var wasWelcomed = false
  private var exitCode: ExitCode?
  /// The exit code to use when the relay has ended the session.
  private var endCode: ExitCode?
  /// The message to print after the terminal is restored.
  private var exitMessage: String?

  init(
    _ configuration: Client.Configuration, _ options: Options, tokens: TokenCommand?
  ) throws {
    self.options = options
    let (settings, capabilities) = (options.settings, options.capabilities)
    dispatcher = try Dispatcher()
    client = Client(configuration, on: dispatcher.clients)
    let device = try TerminalDevice(
      usesMouse: settings.usesMouse, usesLinks: capabilities.hasLinks)
    host = ChatHost(
      Chat(
        settings: settings, size: try device.size(), now: WallClock.milliseconds,
        relay: "\(configuration.url)", user: options.user, idPrefix: Self.idPrefix(),
        localTime: LocalTime.init(milliseconds:)), on: dispatcher)
    host.chat.ownName = options.displayName
    host.chat.showsLinks = capabilities.hasLinks
    host.chat.canSignIn = options.login != nil
    terminal = TerminalDriver(device, capabilities, host)
    editor = EditorDriver(terminal, host)
    pictures = PictureDriver(terminal, host, stateFolder: options.stateFolder)
    thumbnails = ThumbnailDriver(terminal, host)
    desktop = DesktopDriver(terminal: terminal, host: host)
    store = ArchiveDriver(host)
    files = try FileDriver(client, store, host)
    finding = FindingDriver(store, client, host)
    relay = try RelayDriver(client, store, host, tokens: tokens)
    sharing = SharingDriver(store, relay, host)
    signIn = try SignInDriver(client, host, options.login)

    host.perform = { [unowned self] in perform($0) }
    client.handler = self
    terminal.ended = { [unowned self] message in
      exitMessage = message ?? exitMessage
      quit(message == nil ? .success : LineChat.refused)
    }
    terminal.learned = { [unowned self] in
      pictures.begin()
      thumbnails.begin()
    }
    terminal.contentWasLost = { [unowned self] in deletePictures() }
    store.flushed = sharing.saveWaiting
    signIn.becomesOther = { [unowned self] in openArchive(of: $0) }
    dispatcher.endTurn = { [unowned self] in endTurn() }
  }

  /// The model's messages have ids of their own, separate from those of the client.
  private static func idPrefix() -> String {
    var random = SystemRandomNumberGenerator()
    return ClientSession.idPrefix(using: &random)
  }

  /// Runs until the user quits.
  func run() -> ExitCode {
    do {
      try terminal.begin()
    } catch {
      write("wschat: \(error)\n", to: STDERR_FILENO)
      return LineChat.refused
    }
    thumbnails.begin()
    if let user = options.user { openArchive(of: user) }
    host.batch {
      openFirst()
      client.start()
    }
    dispatcher.run()
    editor.end()
    host.change { $0.putAway(&$1) }
    store.flush()
    pictures.end()
    thumbnails.end()
    files.end()
    terminal.end()
    if let exitMessage { write("wschat: \(TerminalText.line(exitMessage))\n", to: STDERR_FILENO) }
    return exitCode ?? .success
  }

  private func endTurn() {
    if exitCode == nil {
      if let drawing = terminal.draw() { follow(drawing) }
      if let deadline = host.chat.deadline {
        tick.set(afterMilliseconds: Int(clamping: max(0, deadline - WallClock.milliseconds)))
      }
    }
    terminal.flush()
  }

  private func follow(_ drawing: Drawing) {
    pictures.follow(drawing, relay.pictureRequest)
    thumbnails.follow(drawing, relay.pictureRequest)
  }

  private func deletePictures() {
    pictures.deleteAll()
    thumbnails.deleteAll()
  }

  private func quit(_ code: ExitCode = .success) {
    guard exitCode == nil else { return }
    exitCode = endCode ?? code
    host.isEnding = true
    if endCode == nil { client.close() } else { dispatcher.loop.stop() }
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .join(let room, let head): relay.join(room, head: head)
    case .leave(let room): relay.leave(room)
    case .reconnect: relay.reconnect()
    case .request(let message): client.request(message)
    case .ask(let message, let ref):
      if !client.request(message, ref: ref) { host.post(.failed("There is no connection.")) }
    case .mark(let room, let received, let read):
      client.mark(room, received: received, read: read)
    case .send(let send, let at): relay.send(send, at: at)
    case .hold(let send, let at): relay.hold(send, at: at)
    case .sendHeld(let send): relay.sendHeld(send)
    case .keepUpload(let file, let content, let id, let room, let at):
      files.keep(file, content, id: id, room: room, at: at)
    case .upload(let file, let id, let room, let continued):
      files.upload(file, id: id, room: room, continuing: continued)
    case .cancelUpload(let id): files.cancel(id)
    case .findFiles(let choice): files.find(choice)
    case .findPaths(let start): files.findPaths(start)
    case .openFile(let file): files.open(file)
    case .openCopy(let name, let path): files.openCopy(at: path, name)
    case .saveFile(let file, let path): files.save(file, to: path)
    case .change(let send): client.send(send)
    case .retry(let send): relay.retry(send)
    case .discard(let room, let id): relay.discard(room, id)
    case .takeBack(let room, let id, let edits): relay.takeBack(room, id, edits: edits)
    case .load(let room, let before): finding.load(room, before: before)
    case .loadNewer(let room, let after): finding.loadNewer(room, after: after)
    case .fetchOlder(let room): finding.fetchOlder(room)
    case .count(let room, let after): finding.countUnread(room, after: after)
    case .quote(let room, let seq): finding.quote(room, seq)
    case .find(let text, let wanted): finding.find(text, wanted: wanted)
    case .endFind: finding.end()
    case .seek(let room, let place): finding.seek(room, place)
    case .save(let room): store.save(room)
    case .saveNames(let names): store.use { $0.save(names: names) }
    case .saveDraft(let room, let text, let base):
      sharing.save(text, of: room, inPlaceOf: base)
    case .endDraft(let room, let version):
      relay.end(version)
      sharing.forget(room, version)
    case .edit(let text, let limitBytes): editor.edit(text, limitBytes: limitBytes)
    case .copy(let text, let count): desktop.copy(text, count: count)
    case .open(let url): desktop.open(url)
    case .signIn: signIn.begin()
    case .endSignIn: signIn.end()
    case .notify(let title, let body): desktop.notify(title, body)
    case .bell: desktop.ringBell()
    case .sound(let sound): desktop.play(sound)
    case .redraw: terminal.redraw()
    case .suspend: terminal.suspend()
    case .quit: quit()
    }
  }

  /// Opens the archive of a user and displays it. If that fails, the chat runs without an archive.
  private func openArchive(of user: String) {
    let hadArchive = store.user != nil
    store.flush()
    sharing.end()
    relay.reset()
    files.reset()
    let problem = store.open(user, stateFolder: options.stateFolder)
    host.batch {
      if hadArchive { beginAnew(user) }
      host.chat.user = user
      store.use { archive throws(ArchiveError) in
        let (sent, originals) = try relay.adopt(try archive.outbox(), in: archive)
        let outgoing = Chat.Outgoing.merge(sent, with: try files.restore(archive))
        relay.holdAgain(outgoing)
        try store.restore(archive, outgoing: outgoing, originals: originals)
      }
    }
    sharing.begin()
    host.post(.condition(.notSaved, problem))
    if let damage = store.archive?.damage { host.post(.failed("\(damage)")) }
    if host.chat.conversations.isEmpty, Environment["TMUX"] != nil {
      host.chat.focusHint =
        "tmux: `set -g focus-events on` tells wschat when you look; see wschat(1)."
    }
  }

  /// The user is not the expected one: nothing of the other user's is displayed.
  private func beginAnew(_ user: String) {
    deletePictures()
    let old = host.chat
    host.chat = Chat(
      settings: old.settings, size: old.size, now: old.now, relay: old.relay, user: user,
      idPrefix: Self.idPrefix(), localTime: old.localTime)
    host.chat.hasFocus = old.hasFocus
    host.chat.showsLinks = old.showsLinks
    host.chat.showsPictures = old.showsPictures
    host.chat.pictureForm = old.pictureForm
    host.chat.canSignIn = old.canSignIn
    finding.reset()
    openFirst()
  }

  /// Opens the requested conversation; a direct room when the user's own name is known.
  private func openFirst() {
    host.chat.pane = .list
    switch options.room {
    case .named(let room): host.change { $0.open(room, &$1) }
    case .direct(let peer):
      guard let user = host.chat.user else { return }
      guard peer != user else {
        return host.post(
          .failed("--to must name another user; you are \(user). Choose a conversation."))
      }
      host.change { $0.open(RoomName.direct(user, peer), &$1) }
    case .person, nil: break
    }
  }
}

extension ScreenChat: ClientHandler {
  func client(_ client: Client, _ event: ClientEvent) {
    if case .welcomed(let welcome) = event { welcomed(as: welcome.user) }
    store.record(event)
    finding.record(event)
    relay.record(event)
    if case .ended(let error) = event, ends(by: error) { return }
    host.post(.client(event))
    if case .tokenWanted(_?) = event { signIn.useOtherLogin() }
    if case .welcomed = event, case .direct = options.room, host.chat.timeline == nil {
      openFirst()
    }
  }

  private func welcomed(as user: String) {
    wasWelcomed = true
    let isOther = user != store.user
    if isOther { openArchive(of: user) }
    if isOther || !relay.isAuthenticated { relay.sendStored() }
    files.begin()
    thumbnails.askAgain()
  }

  /// Handles the end of the session; returns whether it ends the chat.
  private func ends(by error: ClientError) -> Bool {
    if exitCode != nil {
      dispatcher.loop.stop()
      return true
    }
    let hasLogin = options.login != nil
    exitMessage =
      "\(error)\(LineChat.advice(about: error))"
      + LineChat.advice(about: error, client.configuration, hasLogin: hasLogin)
    endCode = error.isAccessDenied ? LineChat.accessDenied : LineChat.noConnection
    // A user who was connected before can go on reading, and write for the next time.
    if !wasWelcomed { quit() }
    return !wasWelcomed
  }
}
