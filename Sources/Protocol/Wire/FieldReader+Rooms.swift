/// `send` of the kinds that change a room: `settings` and `member`.
extension FieldReader {
  /// Whether the relay is to choose the name of a new room.
  func choosesRoom(_ json: Span<UInt8>) -> Bool {
    json.jsonEquals(fields[.room], "") && json.jsonEquals(fields[.kind], "settings")
  }

  func settings(_ json: Span<UInt8>) throws(WireError) -> RoomSettings.Change {
    typealias Change = RoomSettings.Change
    var change = Change()
    change.title = try line(.title, 1...Change.titleLimit, json)
    change.topic = try line(.topic, 0...Change.topicLimit, json)
    change.access = try name(.access, json)
    change.history = try name(.history, json)
    change.posting = try name(.post, json)
    if let seconds = try optionalSequence(.slowSeconds, json) {
      guard seconds <= Change.slowLimit else {
        throw bad(.slowSeconds, "a whole number from 0 to \(Change.slowLimit)", json)
      }
      change.slowSeconds = seconds
    }
    guard !change.isEmpty else {
      throw refusal(
        .badField,
        "An entry of kind \"settings\" needs title, topic, access, history, post or slow_s.",
        .title, json)
    }
    return change
  }

  /// Whether `until` has passed is for the log to decide.
  func member(_ json: Span<UInt8>) throws(WireError) -> MemberChange {
    guard let user = valid(.user, UserName.isValid, json) else {
      throw bad(.user, "the name of a user", json)
    }
    guard let role: Role = try name(.role, json) else {
      throw bad(.role, Self.list(Role.allCases.map(\.rawValue)), json)
    }
    let until = try optionalSequence(.until, json)
    guard until == nil || role == .muted || role == .banned else {
      throw bad(.until, "absent unless the role is muted or banned", json)
    }
    let reason = try line(.reason, 1...MemberChange.reasonLimit, json)
    return MemberChange(user: user, role: role, until: until, reason: reason)
  }

  /// Returns one line of text; `nil` if the field is absent.
  /// - Parameter characters: how many it may have.
  func line(
    _ key: JSONFields.Key, _ characters: ClosedRange<Int>, _ json: Span<UInt8>
  ) throws(WireError) -> String? {
    guard let text = try optionalString(key, json) else { return nil }
    guard characters.contains(text.unicodeScalars.count), LabelText.isOneLine(text),
      characters.lowerBound == 0 || LabelText.isVisible(text)
    else {
      throw bad(
        key,
        "one line of \(characters.lowerBound) to \(characters.upperBound) characters, without control"
          + " and bidirectional characters", json)
    }
    return text
  }

  /// Returns one of the values that a field may have; `nil` if it is absent.
  private func name<Name: RawRepresentable<String> & CaseIterable>(
    _ key: JSONFields.Key, _ json: Span<UInt8>
  ) throws(WireError) -> Name? {
    if fields[key].isAbsent { return nil }
    guard fields[key].isString, let name = Name(rawValue: json.jsonString(fields[key])) else {
      throw bad(key, Self.list(Name.allCases.map(\.rawValue)), json)
    }
    return name
  }

  private static func list(_ names: [String]) -> String {
    let quoted = names.map { "\"\($0)\"" }
    return quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
  }
}
