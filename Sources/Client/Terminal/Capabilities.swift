/// The capabilities of a terminal: guessed from the environment, then corrected by its replies.
public struct Capabilities: Equatable, Sendable {
  /// The control string that shows a desktop notification.
  public enum NotificationForm: Hashable, Sendable {
    /// OSC 9: iTerm2, ghostty, WezTerm.
    case osc9
    /// OSC 99: kitty ("Desktop notifications").
    case osc99
    /// OSC 777: rxvt-unicode, foot.
    case osc777
  }

  /// Whether full-screen output is possible: not with `TERM=dumb`, nor without a `TERM`.
  public var isFullScreen: Bool
  public var depth: ColorDepth
  /// Whether it has a window with a title; the Linux console may print what it does not know.
  public var hasTitle: Bool
  /// DEC mode 2026; known only from the terminal's reply.
  public var synchronizesOutput = false
  /// The kitty keyboard protocol; known only from the terminal's reply.
  public var hasKittyKeyboard = false
  /// The kitty graphics protocol; known only from the terminal's reply.
  public var hasKittyGraphics = false
  /// Whether the terminal may be asked for it: tmux and screen pass no pictures on, and the Linux
  /// console prints the question.
  public var mayHaveGraphics: Bool
  /// Whether the background is dark; nil if unknown.
  public var isDark: Bool?
  /// nil if the terminal is not known to support any; also within tmux, which passes none on.
  public var notificationForm: NotificationForm?

  /// - Parameter environment: Returns the value of a variable, if it is set.
  public init(environment: (String) -> String?) {
    let terminal = environment("TERM") ?? ""
    isFullScreen = !terminal.isEmpty && terminal != "dumb" && terminal != "unknown"
    hasTitle = isFullScreen && terminal != "linux"
    mayHaveGraphics =
      hasTitle && environment("TMUX") == nil && !terminal.hasPrefix("screen")
      && !terminal.hasPrefix("tmux")
    depth = Self.depth(terminal, environment)
    isDark = Self.isDark(environment("COLORFGBG"))
    notificationForm = Self.notificationForm(terminal, environment)
  }

  public init(environment: [String: String]) {
    self.init { environment[$0] }
  }

  /// Updates the capabilities from a reply of the terminal.
  public mutating func refine(with reply: TerminalReply) {
    switch reply {
    case .background(let red, let green, let blue):
      // Luma (ITU-R BT.601): the brightness of a colour.
      isDark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    case .mode(2026, let isKnown): synchronizesOutput = isKnown
    case .keyboard: hasKittyKeyboard = true
    case .graphics(let isKnown): hasKittyGraphics = isKnown
    case .mode, .attributes: break
    }
  }

  private static func depth(_ terminal: String, _ environment: (String) -> String?) -> ColorDepth {
    // no-color.org: set and not empty.
    if let value = environment("NO_COLOR"), !value.isEmpty { return .none }
    if terminal.isEmpty || terminal == "dumb" || terminal.hasPrefix("vt") { return .none }
    let isTrue =
      ["truecolor", "24bit"].contains(environment("COLORTERM") ?? "")
      || ["kitty", "ghostty", "wezterm", "alacritty", "foot", "direct"].contains {
        terminal.contains($0)
      }
      || ["iTerm.app", "WezTerm", "vscode", "ghostty"].contains(environment("TERM_PROGRAM") ?? "")
      || environment("WT_SESSION") != nil
    // GNU screen corrupts 24-bit colours, whatever the terminal around it supports; tmux reduces
    // them itself.
    let isScreen = terminal.hasPrefix("screen") && environment("TMUX") == nil
    if isTrue, !isScreen { return .trueColor }
    return isTrue || terminal.contains("256") ? .colors256 : .colors16
  }

  /// Parses `foreground;background` of rxvt and Konsole, which are palette indices: 7, and 9 and
  /// above, are light.
  private static func isDark(_ colors: String?) -> Bool? {
    guard let last = colors?.split(separator: ";").last, let index = Int(last),
      (0...15).contains(index)
    else { return nil }
    return index < 7 || index == 8
  }

  private static func notificationForm(
    _ terminal: String, _ environment: (String) -> String?
  ) -> NotificationForm? {
    // Within tmux or screen, the outer terminal's capabilities do not apply.
    if environment("TMUX") != nil || terminal.hasPrefix("screen") || terminal.hasPrefix("tmux") {
      return nil
    }
    let program = environment("TERM_PROGRAM") ?? ""
    if terminal.contains("kitty") || environment("KITTY_WINDOW_ID") != nil { return .osc99 }
    if terminal.contains("ghostty") || ["iTerm.app", "ghostty", "WezTerm"].contains(program) {
      return .osc9
    }
    return terminal.hasPrefix("rxvt") || terminal.hasPrefix("foot") ? .osc777 : nil
  }
}
