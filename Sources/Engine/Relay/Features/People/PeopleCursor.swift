import Wire

/// The end of a page of people: its last user, and that user's position.
///
/// Clients may send any value. The bounds are checked when a cursor is parsed, so that nothing that
/// is computed from it can overflow.
struct PeopleCursor: Equatable {
  /// No directory has this many people.
  static let placeLimit = Int(Int32.max)
  /// The position after any user of `SeenPeople`: their order is that of the names. Lower positions
  /// are in the directory, which has fewer people; higher ones, less this one, are in the bots.
  static let seenPlace = 1 << 30

  /// A valid user name; the directory may no longer contain it.
  var user: String
  /// The position after the user, from 1 to `placeLimit`.
  private(set) var place: Int

  init(user: String, place: Int) {
    self.user = user
    self.place = min(max(place, 1), Self.placeLimit)
  }

  /// Parses `user@place`; returns `nil` for anything else.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, (1...10).contains(parts[1].count),
      parts[1].allSatisfy({ 0x30...0x39 ~= $0 }), let place = Int(Substring(parts[1])),
      (1...Self.placeLimit).contains(place)
    else { return nil }
    user = String(Substring(parts[0]))
    self.place = place
    guard UserName.isValid(user) else { return nil }
  }

  var text: String { "\(user)@\(place)" }
}
