extension ClientRequest {
  /// Decodes one request.
  /// - Parameters:
  ///   - textLimitBytes: the maximum length of a `text` entry in UTF-8; 0 = no limit.
  ///   - roomsLimit: the maximum number of rooms of one `join`; 0 = no limit.
  ///   - likelyRoom: the room of the client's last request, say: if this one names it, too, its name is
  ///     neither checked nor copied. Empty = none.
  /// - Throws: the `error` message with which to answer invalid input. It names the request as far as
  ///   it can be read.
  public init(
    decoding json: Span<UInt8>, textLimitBytes: Int, roomsLimit: Int = 0, likelyRoom: String = ""
  ) throws(WireError) {
    let fields: JSONFields
    do {
      fields = try JSONFields(json)
    } catch {
      throw FieldReader(JSONFields(readableIn: json)).named(
        WireError(
          .badJSON,
          "The message is not a JSON object: expected \(error.expected) at byte \(error.offset)."),
        json)
    }
    let reader = FieldReader(fields, likelyRoom: likelyRoom)
    guard fields[.type].isString else {
      throw reader.bad(.type, "a string; each message has one", json)
    }
    ref = try reader.ref(json)
    message = try reader.message(json, textLimitBytes: textLimitBytes, roomsLimit: roomsLimit)
  }
}

extension ClientMessage {
  /// Decodes one message without its `ref`.
  public init(decoding json: Span<UInt8>, textLimitBytes: Int) throws(WireError) {
    self = try ClientRequest(decoding: json, textLimitBytes: textLimitBytes).message
  }
}
