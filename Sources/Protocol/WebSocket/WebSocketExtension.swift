/// One element of `Sec-WebSocket-Extensions` (RFC 6455 §9.1): a name and its parameters.
struct WebSocketExtension: Equatable {
  struct Parameter: Equatable {
    let name: String
    /// Without quotes; `nil` if there is no `=`.
    let value: String?
  }

  let name: String
  var parameters: [Parameter] = []

  /// Returns the elements of all fields of the header in order; `nil` if one of them is malformed:
  /// RFC 6455 §9.1 fails the handshake then.
  static func list(_ lines: [String]) -> [WebSocketExtension]? {
    var list: [WebSocketExtension] = []
    for line in lines {
      var rest = Substring(line).utf8
      repeat {
        rest.skipBlanks()
        // RFC 9110 §5.6.1: empty elements are skipped.
        if rest.isEmpty || rest.first == UInt8(ascii: ",") { continue }
        guard let element = element(&rest) else { return nil }
        list.append(element)
        guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
      } while rest.popFirst() != nil
    }
    return list
  }

  private static func element(_ rest: inout Substring.UTF8View) -> WebSocketExtension? {
    guard let name = rest.popToken() else { return nil }
    var element = WebSocketExtension(name: name)
    rest.skipBlanks()
    while rest.first == UInt8(ascii: ";") {
      rest.removeFirst()
      rest.skipBlanks()
      guard let name = rest.popToken() else { return nil }
      rest.skipBlanks()
      var value: String?
      if rest.first == UInt8(ascii: "=") {
        rest.removeFirst()
        rest.skipBlanks()
        value = rest.first == UInt8(ascii: "\"") ? rest.popQuotedToken() : rest.popToken()
        guard value != nil else { return nil }
        rest.skipBlanks()
      }
      element.parameters.append(Parameter(name: name, value: value))
    }
    return element
  }
}

extension Substring.UTF8View {
  fileprivate mutating func skipBlanks() {
    while let byte = first, byte.isBlank { removeFirst() }
  }

  fileprivate mutating func popToken() -> String? {
    let token = prefix(while: \.isTokenCharacter)
    guard !token.isEmpty else { return nil }
    self = self[token.endIndex...]
    return String(Substring(token))
  }

  /// Parses a quoted string (RFC 9110 §5.6.4), whose content must be a token (RFC 6455 §9.1).
  fileprivate mutating func popQuotedToken() -> String? {
    removeFirst()
    var token: [UInt8] = []
    while var byte = popFirst() {
      if byte == UInt8(ascii: "\"") {
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
      }
      if byte == UInt8(ascii: "\\") {
        guard let escaped = popFirst() else { return nil }
        byte = escaped
      }
      guard byte.isTokenCharacter else { return nil }
      token.append(byte)
    }
    return nil
  }
}
