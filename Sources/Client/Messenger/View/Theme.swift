import Mixing
public import Terminal

/// The styles of the messenger's parts, which stay distinguishable without colours.
public struct Theme: Equatable, Sendable {
  /// The number of colours that a theme may use; the differ reduces them to what the terminal
  /// supports.
  public enum Depth: Sendable, CaseIterable {
    /// Attributes only (`NO_COLOR`).
    case none
    /// The terminal's own sixteen, which match its other colours.
    case sixteen
    case full
  }

  public var text = Style()
  public var faint = Style(.standard, .dim)
  public var strong = Style(.standard, .bold)
  public var accent = Style(.standard, .bold)
  public var error = Style(.standard, .bold)
  /// Presence and connection.
  public var good = Style()
  public var idle = Style()
  public var gone = Style(.standard, .dim)
  /// The bars at the top and the bottom.
  public var bar = Style(.standard, .inverse)
  public var barFaint = Style(.standard, .inverse)
  public var rule = Style(.standard, .dim)
  /// The selected row, and the open conversation.
  public var selection = Style(.standard, .inverse)
  public var current = Style(.standard, .bold)
  public var badge = Style(.standard, [.bold, .inverse])
  public var mutedBadge = Style(.standard, .inverse)
  /// Overlays.
  public var panel = Style()
  /// Text there, also over a highlighted row.
  var panelText: Style { Style(panel.foreground, on: .standard, panel.attributes) }
  public var match = Style(.standard, [.bold, .underline])
  public var currentMatch = Style(.standard, [.bold, .underline, .inverse])
  /// The user's own name or words in a message, and the count of such messages.
  public var mention = Style(.standard, [.bold, .inverse])
  public var link = Style(.standard, .underline)
  public var readMark = Style(.standard, .bold)
  public var unreadLine = Style(.standard, .bold)

  /// The style of a message's bubble.
  public struct Bubble: Equatable, Sendable {
    public var fill: Style
    public var text: Style
    public var faint: Style
    /// The characters to the left and the right, in the style `edge`.
    public var edges: (left: Character, right: Character) { isFilled ? ("▐", "▌") : ("│", "│") }
    public var edge: Style
    var isFilled: Bool
  }

  public var own = Bubble(
    fill: Style(), text: Style(), faint: Style(.standard, .dim), edge: Style(), isFilled: false)
  public var other = Bubble(
    fill: Style(), text: Style(), faint: Style(.standard, .dim),
    edge: Style(.standard, .dim), isFilled: false)
  /// A selected message.
  public var selected = Bubble(
    fill: Style(.standard, .inverse), text: Style(.standard, .inverse),
    faint: Style(.standard, .inverse), edge: Style(.standard, .bold), isFilled: false)

  /// The colours that distinguish users.
  var people: [Color] = [.standard]

  /// Returns the colour of a user, which is always the same, on every machine.
  public func color(of user: String) -> Color {
    let hash = FNV1a.hash(user)
    return people[Int((hash ^ hash >> 32) % UInt64(people.count))]
  }

  /// Without colours.
  public static var plain: Theme { Theme() }

  public static func dark(_ depth: Depth = .full) -> Theme {
    switch depth {
    case .none: plain
    case .sixteen: sixteen(Sixteen.dark)
    case .full: full(Shades.dark)
    }
  }

  public static func light(_ depth: Depth = .full) -> Theme {
    switch depth {
    case .none: plain
    case .sixteen: sixteen(Sixteen.light)
    case .full: full(Shades.light)
    }
  }
}

/// The colours of a theme with more than sixteen colours.
private struct Shades {
  var text, faint, accent, error, good, idle: Color
  var bar, barText, barFaint, rule, selection, current, panel: Color
  var own, ownText, ownFaint, other, otherText, otherFaint, selected, selectedFaint: Color
  var badge, badgeText, mutedBadge, match, currentMatch, matchText, read, unread: Color
  var people: [Color]

  static func gray(_ value: UInt8) -> Color { .rgb(value, value, value) }

  static let dark = Shades(
    text: .standard, faint: gray(148), accent: .rgb(110, 180, 255), error: .rgb(255, 120, 110),
    good: .rgb(95, 211, 135), idle: .rgb(235, 190, 90),
    bar: .rgb(38, 42, 51), barText: gray(230), barFaint: gray(160), rule: .rgb(68, 73, 84),
    selection: .rgb(52, 74, 110), current: .rgb(44, 49, 60), panel: .rgb(34, 38, 47),
    own: .rgb(36, 72, 112), ownText: gray(240), ownFaint: .rgb(165, 190, 215),
    other: .rgb(48, 52, 62), otherText: gray(232), otherFaint: gray(165),
    selected: .rgb(74, 56, 102), selectedFaint: gray(205),
    badge: .rgb(95, 175, 255), badgeText: gray(16), mutedBadge: gray(140),
    match: .rgb(215, 186, 95), currentMatch: .rgb(255, 150, 60), matchText: gray(16),
    read: .rgb(110, 215, 255), unread: .rgb(255, 135, 120),
    people: [
      .rgb(255, 140, 130), .rgb(245, 165, 95), .rgb(225, 190, 90), .rgb(175, 210, 100),
      .rgb(110, 215, 140), .rgb(90, 215, 195), .rgb(100, 205, 240), .rgb(130, 185, 255),
      .rgb(175, 170, 255), .rgb(215, 155, 250), .rgb(250, 150, 215), .rgb(250, 155, 175),
    ])

  static let light = Shades(
    text: .standard, faint: gray(104), accent: .rgb(0, 92, 190), error: .rgb(190, 30, 25),
    good: .rgb(15, 115, 55), idle: .rgb(140, 90, 0),
    bar: .rgb(228, 232, 238), barText: gray(25), barFaint: gray(85), rule: gray(195),
    selection: .rgb(190, 215, 248), current: .rgb(226, 233, 243), panel: .rgb(242, 244, 248),
    own: .rgb(207, 228, 252), ownText: gray(20), ownFaint: .rgb(65, 85, 110),
    other: .rgb(233, 234, 238), otherText: gray(20), otherFaint: gray(85),
    selected: .rgb(228, 212, 245), selectedFaint: gray(70),
    badge: .rgb(0, 92, 190), badgeText: gray(255), mutedBadge: gray(185),
    match: .rgb(255, 226, 120), currentMatch: .rgb(255, 170, 70), matchText: gray(16),
    read: .rgb(0, 75, 190), unread: .rgb(185, 30, 40),
    people: [
      .rgb(175, 30, 30), .rgb(150, 65, 0), .rgb(120, 80, 0), .rgb(75, 95, 0),
      .rgb(0, 105, 45), .rgb(0, 100, 90), .rgb(0, 95, 130), .rgb(0, 80, 175),
      .rgb(75, 65, 190), .rgb(115, 50, 180), .rgb(150, 30, 140), .rgb(165, 25, 90),
    ])
}

extension Theme {
  fileprivate static func full(_ shades: Shades) -> Theme {
    func bubble(_ fill: Color, _ text: Color, _ faint: Color) -> Bubble {
      Bubble(
        fill: Style(text, on: fill), text: Style(text), faint: Style(faint), edge: Style(fill),
        isFilled: true)
    }
    var theme = Theme()
    theme.faint = Style(shades.faint)
    theme.accent = Style(shades.accent)
    theme.error = Style(shades.error)
    theme.good = Style(shades.good)
    theme.idle = Style(shades.idle)
    theme.gone = Style(shades.faint)
    theme.bar = Style(shades.barText, on: shades.bar)
    theme.barFaint = Style(shades.barFaint, on: shades.bar)
    theme.rule = Style(shades.rule)
    theme.selection = Style(shades.barText, on: shades.selection)
    theme.current = Style(shades.barText, on: shades.current)
    theme.badge = Style(shades.badgeText, on: shades.badge, .bold)
    theme.mutedBadge = Style(shades.matchText, on: shades.mutedBadge)
    theme.panel = Style(shades.barText, on: shades.panel)
    theme.match = Style(shades.matchText, on: shades.match)
    theme.currentMatch = Style(shades.matchText, on: shades.currentMatch, .bold)
    theme.mention = Style(shades.matchText, on: shades.currentMatch, .bold)
    theme.readMark = Style(shades.read, .bold)
    theme.unreadLine = Style(shades.unread)
    theme.own = bubble(shades.own, shades.ownText, shades.ownFaint)
    theme.other = bubble(shades.other, shades.otherText, shades.otherFaint)
    theme.selected = bubble(shades.selected, shades.otherText, shades.selectedFaint)
    theme.people = shades.people
    return theme
  }
}

/// The colours of a theme with sixteen: those that are readable on the terminal's own background.
private struct Sixteen {
  var accent, error, good, idle, badge: UInt8
  var people: [UInt8]

  static let dark = Sixteen(
    accent: 14, error: 9, good: 10, idle: 11, badge: 14, people: [9, 10, 11, 12, 13, 14])
  static let light = Sixteen(
    accent: 4, error: 1, good: 2, idle: 5, badge: 4, people: [1, 2, 4, 5, 6])
}

extension Theme {
  fileprivate static func sixteen(_ colors: Sixteen) -> Theme {
    var theme = Theme()
    theme.accent = Style(.palette(colors.accent))
    theme.error = Style(.palette(colors.error))
    theme.good = Style(.palette(colors.good))
    theme.idle = Style(.palette(colors.idle))
    theme.badge = Style(.palette(colors.badge), [.bold, .inverse])
    theme.mention = Style(.palette(colors.idle), [.bold, .inverse])
    theme.readMark = Style(.palette(colors.accent), .bold)
    theme.unreadLine = Style(.palette(colors.error))
    theme.own.edge = Style(.palette(colors.accent))
    theme.people = colors.people.map { .palette($0) }
    return theme
  }
}

extension Style {
  fileprivate init(_ foreground: Color, _ attributes: Attributes) {
    self.init(foreground, on: .standard, attributes)
  }
}
