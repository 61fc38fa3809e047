import Wire

/// What slash commands do.
extension Chat {
  /// Performs a command from the composer. A command that fails stays there.
  mutating func perform(
    _ command: SlashCommand, _ argument: String, _ effects: inout [Effect]
  ) {
    guard !command.arguments.isEmpty || argument.isEmpty else {
      return complain(
        "\(command.usage) takes no argument. Write it alone, or begin with // to send this as text."
      )
    }
    switch command.action {
    case .join:
      guard let room = Self.room(named: argument, user: user) else {
        return complain(
          "\(argument.isEmpty ? "A room's name is missing" : "\(argument) is no room's name"): "
            + "write /join general.")
      }
      clearComposer(&effects)
      open(room, &effects)
    case .message: message(argument, &effects)
    case .act:
      guard !argument.isEmpty, let user else { return complain("Write what you do: /me waves.") }
      composer = TextEditor("* \(name(of: user)) \(argument)")
      sendComposed(&effects)
    case .topic where argument.isEmpty:
      clearComposer(&effects)
      showTopic()
    case .topic: perform(.topic, argument, &effects)
    case .room(let command): perform(command, argument, &effects)
    case .person(let command): perform(command, argument, &effects)
    case .sendFiles: sendFiles(argument, &effects)
    case .file(let command): perform(onNewestFile: command, argument, &effects)
    case .search:
      clearComposer(&effects)
      search = Search()
      if !argument.isEmpty, (try? search?.query.insert(argument)) != nil { findMatches() }
    case .find:
      clearComposer(&effects)
      openFind(argument, &effects)
    case .goTo:
      let text = composer
      clearComposer(&effects)
      if !goToDate(argument, &effects) { composer = text }
    case .command(let command):
      clearComposer(&effects)
      _ = perform(command, &effects)
    case .set: set(argument, &effects)
    case .notify:
      switch argument.lowercased() {
      case "all": notify(.all, &effects)
      case "mentions": notify(.mentions, &effects)
      case "none": notify(.none, &effects)
      default: complain("Write /notify all, /notify mentions or /notify none.")
      }
    case .mute(let isMuted) where argument.isEmpty: notify(isMuted ? .none : .all, &effects)
    case .mute(let isMuted): perform(isMuted ? .mute : .unmute, argument, &effects)
    case .pin(let isPinned):
      clearComposer(&effects)
      if let room = timeline?.room { pin(room, isPinned, &effects) }
    }
  }

  private mutating func notify(_ level: Conversation.Notifications, _ effects: inout [Effect]) {
    guard let room = timeline?.room else { return }
    if level == .mentions, open?.peer != nil {
      return complain("Only rooms have mentions: write /notify all or /notify none.")
    }
    clearComposer(&effects)
    changeNotifications(of: room, to: level, &effects)
  }

  private mutating func message(_ argument: String, _ effects: inout [Effect]) {
    let words = argument.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    let name = words.first.map(String.init) ?? ""
    let room = Self.room(named: name.hasPrefix("@") ? name : "@\(name)", user: user)
    guard let room else {
      let isOwn = name.lowercased().drop { $0 == "@" } == user ?? ""
      return complain(
        name.isEmpty
          ? "A user's name is missing: write /msg ada hello."
          : isOwn
            ? "\(name) is you: write /msg with the name of another user."
            : "\(name) is no user's name: a name has only a-z 0-9 . _ -, as in /msg ada hello.")
    }
    clearComposer(&effects)
    open(room, &effects)
    warnIfUnknown(room)
    guard words.count > 1 else { return }
    let draft = composer.text
    let text = words[1].drop(while: \.isWhitespace)
    composer = TextEditor(text.hasPrefix("/") ? "/\(text)" : String(text))
    sendComposed(&effects)
    if composer.isEmpty { composer = TextEditor(draft) }
  }

  private mutating func warnIfUnknown(_ room: String) {
    guard let conversation = conversations[room], let peer = conversation.peer else { return }
    let isListed = conversation.order != .max || conversation.presence != nil
    let warning = UnknownUser.warning(
      about: peer, isListed: isListed ? true : directory == .complete ? false : nil,
      hasTraces: conversation.last != nil || conversation.isMember)
    guard let warning else { return }
    complain("\(warning.prefix(1).uppercased())\(warning.dropFirst()).", isError: false)
  }

  /// Changes a setting that takes effect at once.
  private mutating func set(_ argument: String, _ effects: inout [Effect]) {
    let words = argument.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    let keys = Self.settable.joined(separator: ", ")
    guard words.count == 2, Self.settable.contains(String(words[0])) else {
      return complain(
        "Write /set KEY VALUE, where KEY is one of \(keys). The other settings are read at the start."
      )
    }
    do throws(SettingsError) {
      settings = try settings.changing(key: String(words[0]), to: String(words[1]))
    } catch {
      return complain(error.problems.first.map { "\($0.key) \($0.text)" } ?? "\(error)")
    }
    clearComposer(&effects)
    complain("\(words[0]) is \(words[1]) until wschat ends.", isError: false)
  }

  static let settable = ["messages", "clock", "bell", "notify", "away_after_s"]

  mutating func clearComposer(_ effects: inout [Effect]) {
    endComposition()
    if let room = timeline?.room { endDraft(of: room, isSent: false, &effects) }
    stopTyping(&effects)
  }
}
