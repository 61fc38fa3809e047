import Wire

/// Where a page of people ends: the last user that was looked at, and how many stood up to there.
///
/// Clients send back what they like. The bounds are held where a cursor is read, so that nothing that is
/// computed from one can overflow.
struct PeopleCursor: Equatable {
  /// No directory has so many.
  static let placeLimit = Int(Int32.max)

  /// A valid user name; the directory may no longer have it.
  var user: String
  /// The place behind the user, from 0 to `placeLimit`.
  private(set) var place: Int

  init(user: String, place: Int) {
    self.user = user
    self.place = min(max(place, 0), Self.placeLimit)
  }

  /// Reads `user@place`; `nil` where it is anything else.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, (1...10).contains(parts[1].count),
      parts[1].allSatisfy({ 0x30...0x39 ~= $0 }), let place = Int(Substring(parts[1])),
      place <= Self.placeLimit
    else { return nil }
    user = String(Substring(parts[0]))
    self.place = place
    guard UserName.isValid(user) else { return nil }
  }

  var text: String { "\(user)@\(place)" }
}
