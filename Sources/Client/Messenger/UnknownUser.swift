/// The warning that no user has the name of the recipient: a mistyped name is a valid one, and the
/// messages wait for its user.
public enum UnknownUser {
  /// Returns the warning, without a capital letter and a full stop; `nil` if there may be such a
  /// user.
  ///
  /// - Parameters:
  ///   - isListed: Whether the relay's list of people has the user; `nil` if not all of it is known.
  ///   - hasTraces: Whether messages or receipts prove that there is such a user.
  ///   - suggestion: A user who may be meant.
  public static func warning(
    about user: String, isListed: Bool?, hasTraces: Bool,
    suggestion: (user: String, name: String)? = nil
  ) -> String? {
    guard isListed == false, !hasTraces else { return nil }
    let other = suggestion.map { " (did you mean \($0.user), \($0.name)?)" } ?? ""
    return "no user called \(user) is known to the relay\(other);"
      + " what you write is stored until a user of that name connects"
  }
}
