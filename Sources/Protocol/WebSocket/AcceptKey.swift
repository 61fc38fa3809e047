/// The key by which a server proves that it understood the opening handshake (RFC 6455 §4.2.2, item
/// 5.4).
enum AcceptKey {
  /// Returns the value of `Sec-WebSocket-Accept` for that of `Sec-WebSocket-Key`.
  static func accept(for key: String) -> String {
    let keyAndGUID = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    return Base64.encode(SHA1.digest(of: keyAndGUID))
  }

  /// Whether a client may send `key` as `Sec-WebSocket-Key`: 16 bytes in base64 (§4.1, item 7).
  static func isValid(_ key: String) -> Bool {
    Base64.decode(key)?.count == 16
  }
}
