import Client
import Wire

/// A command that is written in the composer: the table that the parser, Tab, F1 and the manual
/// share.
public struct SlashCommand: Equatable, Sendable {
  enum Action: Sendable, Equatable {
    case join, message, act, search, find, goTo, set, notify
    /// Shows the topic; with an argument, the room's command.
    case topic
    /// Mutes the conversation, or no longer; with an argument, the room's command.
    case mute(Bool)
    case room(RoomCommand)
    case person(PersonCommand)
    case sendFiles
    /// The same as a key's, on the newest file.
    case file(Command)
    case pin(Bool)
    /// The same as a key's.
    case command(Command)
  }

  /// The name, and the aliases of other programs; without the slash.
  public var names: [String]
  /// What follows, for people; empty if the command takes no argument, and then refuses one.
  public var arguments: String
  public var text: String
  let action: Action

  /// Whether it may be written while a reply is open.
  var isForReplies: Bool { action == .sendFiles || personCommand == .report }

  /// `/name arguments`.
  public var usage: String { arguments.isEmpty ? "/\(names[0])" : "/\(names[0]) \(arguments)" }

  private init(_ action: Action, _ names: String, _ arguments: String, _ text: String) {
    self.action = action
    self.names = names.split(separator: " ").map(String.init)
    self.arguments = arguments
    self.text = text
  }

  public static let all = [
    SlashCommand(.join, "join j", "ROOM", "open a room, or a new one"),
    SlashCommand(.message, "msg m query dm", "USER [TEXT]", "write to a person"),
    SlashCommand(.act, "me", "TEXT", "say what you do"),
    SlashCommand(
      .sendFiles, "send attach upload", "FILE... [-- CAPTION]", "send files; Tab completes paths"),
    SlashCommand(.file(.openFile), "open", "", "open the newest file of the conversation"),
    SlashCommand(.file(.saveFile), "save", "[PATH]", "save the newest file of the conversation"),
    SlashCommand(.file(.copyLink), "link", "", "copy the link to the newest file"),
    SlashCommand(
      .command(.leave), "leave part close forget", "", "leave the conversation, and forget it"),
    SlashCommand(.room(.create), "create", "TITLE", "make a private room, and open it"),
    SlashCommand(.topic, "topic", "[TEXT]", "show the topic of the room, or set it"),
    SlashCommand(.room(.title), "title", "TEXT", "name the room"),
    SlashCommand(.command(.members), "members names", "", "show the members of the room"),
    SlashCommand(.room(.invite), "invite add", "USER", "let a user into the room"),
    SlashCommand(.room(.kick), "kick remove", "USER [REASON]", "remove a member from the room"),
    SlashCommand(
      .room(.ban), "ban", "USER [TIME] [REASON]", "remove a user, who cannot join again"),
    SlashCommand(.room(.unban), "unban", "USER", "end the ban of a user"),
    SlashCommand(.room(.op), "op", "USER", "make a member a moderator"),
    SlashCommand(.room(.deop), "deop", "USER", "make a moderator a member"),
    SlashCommand(
      .room(.role), "role", "USER owner|moderator|member", "choose what a member may do"),
    SlashCommand(.person(.block), "block", "[USER]", "block a person, who is not told"),
    SlashCommand(.person(.unblock), "unblock", "[USER]", "no longer block a person"),
    SlashCommand(.person(.accept), "accept", "", "accept the request of a person"),
    SlashCommand(
      .person(.report), "report", "[SEQ] REASON", "report a message, or the last one of another"),
    SlashCommand(.search, "search find s", "[TEXT]", "search this conversation"),
    SlashCommand(.find, "searchall everywhere grep", "[TEXT]", "search all conversations"),
    SlashCommand(.goTo, "goto date jump", "DATE", "go to a date, such as yesterday or 14:02"),
    SlashCommand(.command(.firstUnread), "firstunread", "", "go to the first unread message"),
    SlashCommand(
      .command(.previousMention), "mention", "", "go to the previous message that mentions you"),
    SlashCommand(
      .command(.nextMention), "nextmention", "", "go to the next message that mentions you"),
    SlashCommand(
      .notify, "notify", "all|mentions|none", "choose which messages notify, and count as unread"),
    SlashCommand(
      .mute(true), "mute", "[USER [TIME] [REASON]]", "mute the conversation, or a member"),
    SlashCommand(.mute(false), "unmute", "[USER]", "unmute the conversation, or a member"),
    SlashCommand(.command(.markUnread), "unread", "", "mark the conversation as unread"),
    SlashCommand(.pin(true), "pin", "", "keep the conversation at the top of the list"),
    SlashCommand(.pin(false), "unpin", "", "no longer keep it at the top"),
    SlashCommand(.command(.reconnect), "reconnect", "", "reconnect now"),
    SlashCommand(
      .command(.signIn), "login", "", "sign in again, when this device was signed out"),
    SlashCommand(.set, "set", "KEY VALUE", "change a setting until wschat ends"),
    SlashCommand(.command(.help), "help h ?", "", "show the keys and commands"),
    SlashCommand(.command(.quit), "quit q exit", "", "quit"),
  ]

  /// What a text that is about to be sent means.
  public enum Reading: Equatable {
    /// A message; the text without the slash that escapes another.
    case text(String)
    case command(SlashCommand, argument: String)
    /// A name that is no command's, with the slash.
    case unknown(String)
  }

  /// Reads a text: a command begins with a slash, and `//` with a message that begins with one.
  public static func read(_ text: String) -> Reading {
    guard text.first == "/", text != "/" else { return .text(text) }
    if text.hasPrefix("//") { return .text(String(text.dropFirst())) }
    let words = text.dropFirst().split(maxSplits: 1, whereSeparator: \.isWhitespace)
    let name = words.first.map(String.init) ?? ""
    let argument = words.count > 1 ? String(words[1].drop(while: \.isWhitespace)) : ""
    guard let command = all.first(where: { $0.names.contains(name.lowercased()) }) else {
      return .unknown("/\(name)")
    }
    return .command(command, argument: argument)
  }

  /// Returns the text that `read` takes for this message: one that begins with a slash has another
  /// before it, so that what was sent once can be written again.
  static func escaped(_ text: String) -> String {
    read(text) == .text(text) ? text : "/\(text)"
  }

  /// What the command does to a room with this argument, if it does something to it.
  public func roomCommand(_ argument: String) -> RoomCommand? {
    switch action {
    case .room(let command): command
    case .topic where !argument.isEmpty: .topic
    case .mute(let isMuted) where !argument.isEmpty: isMuted ? .mute : .unmute
    default: nil
    }
  }

  /// What the command does about a person, if it does something.
  public var personCommand: PersonCommand? {
    if case .person(let command) = action { command } else { nil }
  }

  /// Whether the first argument is a user's name.
  var takesUser: Bool { arguments.hasPrefix("USER") || arguments.hasPrefix("[USER") }

  /// Whether an argument is the path of a file.
  var takesPath: Bool { arguments.hasPrefix("FILE") || arguments == "[PATH]" }

  /// The commands that can be carried out in a conversation.
  static func offered(in conversation: Conversation) -> [SlashCommand] {
    all.filter { command in
      guard case .room(let command) = command.action else { return true }
      return command.isAllowed(for: conversation.membership.role)
    }
  }

  /// Those whose name or alias begins with these letters; by name.
  static func matching(_ start: String, in all: [SlashCommand] = all) -> [SlashCommand] {
    let start = start.lowercased()
    let byName = all.filter { $0.names[0].hasPrefix(start) }
    let names = Set(byName.map { $0.names[0] })
    return byName
      + all.filter { command in
        !names.contains(command.names[0]) && command.names.contains { $0.hasPrefix(start) }
      }
  }
}
