import Wire

extension ClientMessage {
  /// Reads a message from the text of a test.
  init(_ json: String, textLimitBytes: Int = 8192) throws(WireError) {
    try self.init(bytes: Array(json.utf8), textLimitBytes: textLimitBytes)
  }

  init(bytes: [UInt8], textLimitBytes: Int = 8192) throws(WireError) {
    try self.init(decoding: bytes.span, textLimitBytes: textLimitBytes)
  }

  /// The error that answers this text; `nil` if it is a message.
  static func refusal(of json: String, textLimitBytes: Int = 8192) -> WireError? {
    refusal(ofBytes: Array(json.utf8), textLimitBytes: textLimitBytes)
  }

  static func refusal(ofBytes json: [UInt8], textLimitBytes: Int = 8192) -> WireError? {
    do throws(WireError) {
      _ = try ClientMessage(bytes: json, textLimitBytes: textLimitBytes)
      return nil
    } catch {
      return error
    }
  }

  /// The body of a `send`.
  static func body(ofSend json: String, textLimitBytes: Int = 8192) throws -> String {
    guard case .send(let send) = try ClientMessage(json, textLimitBytes: textLimitBytes) else {
      throw NotASend()
    }
    return String(decoding: send.body, as: UTF8.self)
  }

  private struct NotASend: Error {}
}
