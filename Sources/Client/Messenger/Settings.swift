/// The user's settings, with one property per key of the configuration file. `Settings()` is the
/// defaults; `read` parses a file.
public struct Settings: Equatable, Sendable {
  public enum Theme: String, Sendable, CaseIterable { case auto, dark, light }
  public enum Messages: String, Sendable, CaseIterable {
    case bubbles
    /// As bubbles, but without their background.
    case plain
    /// One line for each, with the time and the name in columns.
    case irc
  }

  /// How the time of day is written.
  public enum Clock: String, Sendable, CaseIterable {
    /// "14:02".
    case h24 = "24h"
    /// "2:02 pm".
    case h12 = "12h"
  }

  /// The rows that each conversation has in the list.
  public enum List: String, Sendable, CaseIterable {
    /// Two, the second with the last message, where the terminal is high enough.
    case full
    case compact
  }

  /// Pictures of people.
  public enum Pictures: String, Sendable, CaseIterable {
    /// Where the terminal says that it can show them.
    case auto
    case off
  }

  /// Links that a click opens.
  public enum Links: String, Sendable, CaseIterable {
    /// Where the terminal is known to have them.
    case auto
    case on
    case off
  }

  /// The number of colours to use.
  public enum Color: String, Sendable, CaseIterable {
    /// What the terminal supports, or none if `NO_COLOR` is set.
    case auto
    case none
    case ansi = "16"
    case palette = "256"
    case rgb = "true"
  }

  /// How the user is notified of a message while the terminal is not focused.
  public enum Notify: Equatable, Sendable {
    /// What the terminal is known to support, or nothing.
    case auto
    /// Escape sequences of iTerm2, kitty and urxvt.
    case osc9, osc99, osc777
    case off
    /// A shell command; `$1` is the sender or the room, `$2` the text.
    case command(String)
  }

  /// The relay; `nil` for `$WSCHAT_URL`, or the relay on this machine.
  public var url: String?
  /// The user name for a relay in open mode; `nil` for `$USER`.
  public var user: String?
  /// A shell command that prints a token.
  public var tokenCommand: String?
  /// A PEM file of authorities that replaces the system's.
  public var ca: String?
  /// The accounts besides the one above, in the order of the file.
  public var profiles: [Profile] = []
  /// The name of the profile whose settings these are.
  public var profile: String?
  /// Whether the profile names the relay, rather than to inherit it.
  public var isProfilesURL = false
  public var theme = Theme.auto
  public var messages = Messages.bubbles
  public var clock = Clock.h24
  public var list = List.full
  /// Whether the list is beside the conversation, also while it is not focused.
  public var hasSidebar = true
  /// Whether pictures of people are shown where the terminal can.
  public var pictures = Pictures.auto
  public var links = Links.auto
  public var usesMouse = false
  public var color = Color.auto
  /// The maximum number of entries of each conversation stored on this machine; 0 for all.
  public var historyEntries = 0
  public var notify = Notify.auto
  /// Words that count as a mention of the user, in lower case.
  public var highlight: [String] = []
  static let highlightLimit = 32
  static let highlightLimitBytes = 64
  /// In a terminal that does not report its focus: the seconds without a key after which the user is
  /// taken not to look; 0 for never.
  public var awayAfterSeconds = 60
  /// Whether to ring the terminal's bell for a message while the terminal is not focused.
  public var bell = false
  /// Shell commands to run when a message is sent and when one is received.
  public var soundSent: String?
  public var soundReceived: String?
  public var keymap = Keymap()

  /// The keymap without the changes of single commands.
  var keymapName: Keymap.Name {
    get { keymap.name }
    set { keymap = Keymap(newValue) }
  }

  public init() {}
}
