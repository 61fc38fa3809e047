/// What the user can choose, as the configuration file has it: one property for each key.
/// `Settings()` is the defaults; `read` is the way from a file.
public struct Settings: Equatable, Sendable {
  public enum Theme: String, Sendable, CaseIterable { case auto, dark, light }
  public enum Messages: String, Sendable, CaseIterable { case bubbles, plain }

  /// How many colours the terminal is asked for.
  public enum Color: String, Sendable, CaseIterable {
    /// What the terminal says it can, or none where `NO_COLOR` is set.
    case auto
    case none
    case ansi = "16"
    case palette = "256"
    case rgb = "true"
  }

  /// How the user is told of a message while the terminal has not the keyboard.
  public enum Notify: Equatable, Sendable {
    /// What the terminal is known to understand, or nothing.
    case auto
    /// Escape sequences: iTerm2's, kitty's, urxvt's.
    case osc9, osc99, osc777
    case off
    /// For the shell; `$1` is who writes, or where, `$2` what.
    case command(String)
  }

  /// The relay; `nil` for `$WSCHAT_URL`, or the one on this machine.
  public var url: String?
  /// Who one is where the relay believes it; `nil` for `$USER`.
  public var user: String?
  /// For the shell; prints a token.
  public var tokenCommand: String?
  /// A PEM file of authorities in place of the system's.
  public var ca: String?
  public var theme = Theme.auto
  public var messages = Messages.bubbles
  public var usesMouse = false
  public var color = Color.auto
  /// The newest entries of each conversation that are kept on this machine; 0 for all.
  public var historyEntries = 0
  public var notify = Notify.auto
  /// Whether the terminal rings when it has not the keyboard.
  public var bell = false
  /// For the shell, when a message has left, and when one has come.
  public var soundSent: String?
  public var soundReceived: String?
  public var keymap = Keymap()

  public init() {}
}
