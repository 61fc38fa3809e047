internal import Relay
internal import Wire

/// The people of one or more directory pages, with names normalized to user names. Names that
/// cannot be normalized are skipped and counted.
struct Listing: Equatable, Sendable {
  private(set) var people: [Person] = []
  /// How many were skipped because their names do not fit.
  private(set) var leftOut = 0

  static let nameLimitBytes = 200
  static let avatarLimitBytes = 2048

  /// - Parameters:
  ///   - login: the login name in the directory.
  ///   - name: the display name, if it has one.
  ///   - id: as in `Person`.
  mutating func add(
    login: String, name: String? = nil, avatar: String? = nil, id: String? = nil
  ) {
    guard let user = Self.user(login) else {
      leftOut += 1
      return
    }
    let name = name.flatMap(Self.shown) ?? login
    people.append(Person(user: user, name: name, avatar: avatar.flatMap(Self.picture), id: id))
  }

  mutating func add(_ other: Listing) {
    people += other.people
    leftOut += other.leftOut
  }

  /// A stored listing.
  init(people: [Person] = [], leftOut: Int = 0) {
    self.people = people
    self.leftOut = leftOut
  }

  /// Returns a login as a user name of relay.v1: `Ada` is `ada`, `x[bot]` is `x.bot`; `nil` if it
  /// does not fit.
  static func user(_ login: String) -> String? {
    var name = String(
      decoding: login.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    if name.hasSuffix("[bot]") { name = "\(name.dropLast(5)).bot" }
    return UserName.isValid(name) ? name : nil
  }

  /// Returns a display name: one line, not blank, without control characters.
  static func shown(_ name: String) -> String? {
    var shown = String.UnicodeScalarView()
    var bytes = 0
    for scalar in name.unicodeScalars {
      let scalar = scalar.properties.isWhitespace ? " " : scalar
      guard isShown(scalar) else { continue }
      bytes += UTF8.width(scalar)
      guard bytes <= nameLimitBytes else { break }
      shown.append(scalar)
    }
    let trimmed = String(shown).trimmed
    return trimmed.isEmpty ? nil : trimmed
  }

  /// Whether a character is neither C0, DEL, C1 nor one that changes the direction of text.
  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: false
    default: true
    }
  }

  /// Returns a picture's URL; `nil` if it is too long, or not an http or https URL.
  static func picture(_ url: String) -> String? {
    guard url.utf8.count <= avatarLimitBytes, WebAddress(url) != nil else { return nil }
    return url
  }
}
