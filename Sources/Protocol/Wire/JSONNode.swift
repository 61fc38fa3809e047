/// A value of JSON that is not relay.v1, such as responses of other services and files.
///
/// The whole text is validated at first; members are searched when they are accessed, so a value of
/// which little is used costs little.
package struct JSONNode: Sendable {
  private let text: [UInt8]
  private let value: JSONValue

  /// Parses a text; returns `nil` unless it is exactly one value (RFC 8259) of at most 64 levels.
  package init?(_ text: [UInt8]) {
    guard let value = try? Self.value(in: text) else { return nil }
    self.init(text, value)
  }

  /// Returns the number of bytes before the first error of a text; `nil` if it can be parsed.
  package static func errorOffset(in text: [UInt8]) -> Int? {
    do throws(JSONError) {
      _ = try value(in: text)
      return nil
    } catch {
      return error.offset
    }
  }

  private static func value(in text: [UInt8]) throws(JSONError) -> JSONValue {
    let span = text.span
    try span.jsonCheckLength()
    var at = 0
    span.jsonSkipSpace(&at)
    let value = try span.jsonSkipValue(&at)
    span.jsonSkipSpace(&at)
    guard at == text.count else { throw JSONError(expected: "the end", offset: at) }
    return value
  }

  private init(_ text: [UInt8], _ value: JSONValue) {
    self.text = text
    self.value = value
  }

  /// A member of an object; `nil` if it is missing or `null`. The last of a repeated one counts.
  package subscript(name: StaticString) -> JSONNode? {
    member(name).flatMap { $0.value.isAbsent ? nil : $0 }
  }

  /// Returns a member of an object, which may be `null`; `nil` if it is missing.
  package func member(_ name: StaticString) -> JSONNode? {
    guard value.kind == .object else { return nil }
    var found = JSONValue.absent
    walk { at throws(JSONError) in
      let key = try text.span.jsonSkipKey(&at)
      let member = try text.span.jsonSkipValue(&at)
      if text.span.jsonEquals(key, name) { found = member }
    }
    return found == .absent ? nil : JSONNode(text, found)
  }

  /// Returns a member whose name is only known at runtime, such as one that an operator has configured.
  package func member(named name: String) -> JSONNode? {
    guard value.kind == .object else { return nil }
    var found = JSONValue.absent
    walk { at throws(JSONError) in
      let key = try text.span.jsonSkipKey(&at)
      let member = try text.span.jsonSkipValue(&at)
      if text.span.jsonString(key) == name { found = member }
    }
    return found == .absent ? nil : JSONNode(text, found)
  }

  /// The elements of an array; `nil` for other values.
  package var elements: [JSONNode]? {
    guard value.kind == .array else { return nil }
    var elements: [JSONNode] = []
    walk { at throws(JSONError) in
      elements.append(JSONNode(text, try text.span.jsonSkipValue(&at)))
    }
    return elements
  }

  /// The text of a string without escapes; invalid UTF-8 is replaced.
  package var string: String? { value.isString ? text.span.jsonString(value) : nil }

  /// An integer from 0 to 2^53 - 1.
  package var integer: Int64? { text.span.jsonSequence(value) }

  /// The value as it is written.
  package var bytes: [UInt8] { Array(text[value.range]) }

  /// A number as it is written.
  package var number: String? {
    guard value.kind == .number else { return nil }
    return String(decoding: text[value.range], as: UTF8.self)
  }

  package var boolean: Bool? {
    switch value.kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  package var isObject: Bool { value.kind == .object }

  /// Calls `read` at each member or element. The text has been validated, so nothing is thrown.
  private func walk(_ read: (inout Int) throws(JSONError) -> Void) {
    let span = text.span
    let closing = text[value.range.upperBound - 1]
    var at = value.range.lowerBound + 1
    span.jsonSkipSpace(&at)
    guard span[at] != closing else { return }
    do throws(JSONError) {
      repeat { try read(&at) } while try span.jsonSkipComma(&at, orClosing: closing)
    } catch {
      preconditionFailure("the text was checked")
    }
  }
}
