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
  /// Sixels; known only from the terminal's reply.
  public var hasSixel = false
  /// Whether the terminal may be asked for it: tmux and screen pass no pictures on, and the Linux
  /// console prints the question.
  public var mayHaveGraphics: Bool
  /// Whether links are written for a click to open (OSC 8).
  public var hasLinks: Bool
  /// Whether the background is dark; nil if unknown.
  public var isDark: Bool?
  /// Whether the locale's encoding is UTF-8, by the variables that name it (locale(7)).
  public var hasUTF8: Bool
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
    hasLinks = Self.hasLinks(terminal, environment)
    depth = Self.depth(terminal, environment)
    isDark = Self.isDark(environment("COLORFGBG"))
    notificationForm = Self.notificationForm(terminal, environment)
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
    hasUTF8 = ["utf-8", "utf8"].contains { locale?.lowercased().contains($0) == true }
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
    // Within tmux or screen the reply is theirs, and what they pass on is not known.
    case .attributes(let isKnown): hasSixel = isKnown && mayHaveGraphics
    case .mode: break
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

  /// By the kind of terminal, because none can be asked. Others should ignore what they do not know,
  /// but the Linux console and old versions print it, or end it elsewhere.
  private static func hasLinks(
    _ terminal: String, _ environment: (String) -> String?
  ) -> Bool {
    if terminal.isEmpty || terminal == "dumb" || terminal == "linux" { return false }
    let program = environment("TERM_PROGRAM") ?? ""
    let isTmux = environment("TMUX") != nil || terminal.hasPrefix("tmux")
    if isTmux {
      // It passes them on since 3.4, to the terminals around it that have them.
      guard program == "tmux", let version = environment("TERM_PROGRAM_VERSION") else {
        return false
      }
      return Self.version(ofTmux: version).map { $0 >= (3, 4) } ?? false
    }
    // GNU screen drops them, whatever is around it.
    if terminal.hasPrefix("screen") { return false }
    func number(_ name: String) -> Int { environment(name).flatMap { Int($0) } ?? 0 }
    return ["kitty", "ghostty", "wezterm", "alacritty", "foot"].contains { terminal.contains($0) }
      || ["iTerm.app", "WezTerm", "vscode", "ghostty", "mintty"].contains(program)
      || ["KITTY_WINDOW_ID", "WT_SESSION"].contains { environment($0) != nil }
      // GNOME's and others: 0.50.0 ended at a click on one.
      || number("VTE_VERSION") > 5000
      || number("KONSOLE_VERSION") >= 201_200
  }

  /// Parses "3.4", "3.5a", "3.6-rc2" and "next-3.7".
  private static func version(ofTmux text: String) -> (Int, Int)? {
    let parts = (text.hasPrefix("next-") ? text.dropFirst(5) : text[...])
      .split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 2, let major = Int(parts[0]),
      let minor = Int(parts[1].prefix { $0.isASCII && $0.isNumber })
    else { return nil }
    return (major, minor)
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
