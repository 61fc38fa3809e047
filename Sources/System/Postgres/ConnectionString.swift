internal import CPostgres

/// Checks a connection string before libpq uses it, since libpq's messages about a wrong one repeat it,
/// with its password.
enum ConnectionString {
  /// Returns what is wrong with a connection URI or string, as the end of a sentence; `nil` if libpq can
  /// read it. libpq must be loaded.
  static func problem(_ string: String) -> String? {
    let isURI = string.hasPrefix("postgresql://") || string.hasPrefix("postgres://")
    // Otherwise libpq would take all of it for the name of a database.
    guard isURI || string.contains("=") else {
      return
        "it is neither a URI, such as postgresql://relay@db.example.org/relay, nor a string such "
        + "as host=db.example.org dbname=relay"
    }
    if isURI {
      let address = string.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "?" }
      let host = address.prefix { $0 != "/" }
      // The rest of the password would be taken for a part of the host, or for the port.
      guard address.count(where: { $0 == "@" }) == host.count(where: { $0 == "@" }),
        host.count(where: { $0 == "@" }) <= 1
      else { return "in a user, password or name, @ must be written as %40, and / as %2F" }
    }
    guard let message = unsafe cpostgres_connection_string_error(string) else { return nil }
    defer { unsafe cpostgres_free(message) }
    let text = unsafe String(cString: message)
    guard let first = text.firstIndex(of: "\""), let last = text.lastIndex(of: "\"") else {
      return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    // What libpq quotes is a part of the string.
    return (text[..<first] + "…" + text[text.index(after: last)...])
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
