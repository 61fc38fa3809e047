internal import Wire

/// The members of a request's JSON object, each checked when it is read.
struct Fields {
  private let json: JSONNode

  init(_ content: [UInt8]) throws(AccountError) {
    guard String(validating: content, as: UTF8.self) != nil, let json = JSONNode(content),
      json.isObject
    else { throw .refused(.notJSON) }
    self.json = json
  }

  func user(_ field: StaticString) throws(AccountError) -> String? {
    guard let value = json.member(field) else { return nil }
    guard let user = value.string, UserName.isValid(user) else {
      throw .refused(.bad("\(field)", "A user name is 1 to 64 of a-z 0-9 . _ -, not . or .."))
    }
    return user
  }

  /// Returns a name for people: one line.
  func name(_ field: StaticString, bytes: Int) throws(AccountError) -> String? {
    guard let value = json.member(field) else { return nil }
    guard let name = value.string, LabelText.isName(name, bytes: bytes) else {
      throw .refused(.bad("\(field)", "\"\(field)\" must be one line of 1 to \(bytes) bytes."))
    }
    return name
  }

  func integer(
    _ field: StaticString, _ range: ClosedRange<Int64>
  ) throws(AccountError) -> Int64? {
    guard let value = json.member(field) else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw .refused(
        .bad(
          "\(field)",
          "\"\(field)\" must be a whole number from \(range.lowerBound) to \(range.upperBound)."))
    }
    return number
  }

  func flag(_ field: StaticString) throws(AccountError) -> Bool? {
    guard let value = json.member(field) else { return nil }
    guard let flag = value.boolean else {
      throw .refused(.bad("\(field)", "\"\(field)\" must be true or false."))
    }
    return flag
  }

  func rooms(_ field: StaticString, limit: Int) throws(AccountError) -> [String] {
    guard let value = json.member(field) else { return [] }
    guard let elements = value.elements, elements.count <= limit else {
      throw .refused(.bad("\(field)", "\"\(field)\" must be a list of at most \(limit) rooms."))
    }
    let rooms = elements.compactMap(\.string)
    guard rooms.count == elements.count,
      rooms.allSatisfy({
        RoomName.isValid($0) && !RoomName.isDirect($0) && !RoomName.isReserved($0)
      })
    else { throw .refused(.bad("\(field)", "\"\(field)\" has something that is no room.")) }
    return rooms
  }

  /// Returns the code that a device polls with: of JSON, or of a form, which libraries for RFC 8628 send.
  static func deviceCode(_ content: [UInt8]) -> String? {
    if let json = JSONNode(content), json.isObject { return json["device_code"]?.string }
    for pair in content.split(separator: UInt8(ascii: "&")) {
      let pair = String(decoding: pair, as: UTF8.self)
      // A code of this relay has no character that a form would encode.
      if pair.hasPrefix("device_code=") { return String(pair.dropFirst("device_code=".count)) }
    }
    return nil
  }
}
