/// A value of a JSON text that is not relay.v1: what other services answer, what is kept in a file.
///
/// The text is checked as a whole at first; what lies in it is looked for when it is asked for, so
/// that a value of which little is used costs little.
package struct JSONNode: Sendable {
  private let text: [UInt8]
  private let value: JSONValue

  /// `nil` unless the text is exactly one value (RFC 8259), at most 64 levels deep.
  package init?(_ text: [UInt8]) {
    let span = text.span
    guard (try? span.jsonCheckLength()) != nil else { return nil }
    var at = 0
    span.jsonSkipSpace(&at)
    guard let value = try? span.jsonSkipValue(&at) else { return nil }
    span.jsonSkipSpace(&at)
    guard at == text.count else { return nil }
    self.init(text, value)
  }

  private init(_ text: [UInt8], _ value: JSONValue) {
    self.text = text
    self.value = value
  }

  /// A member of an object; `nil` where there is none, or it is `null`. Of a repeated one the last
  /// counts.
  package subscript(name: StaticString) -> JSONNode? {
    guard value.kind == .object else { return nil }
    var found = JSONValue.absent
    walk { at throws(JSONError) in
      let key = try text.span.jsonSkipKey(&at)
      let member = try text.span.jsonSkipValue(&at)
      if text.span.jsonEquals(key, name) { found = member }
    }
    return found.isAbsent ? nil : JSONNode(text, found)
  }

  /// An array's elements; `nil` where it is none.
  package var elements: [JSONNode]? {
    guard value.kind == .array else { return nil }
    var elements: [JSONNode] = []
    walk { at throws(JSONError) in
      elements.append(JSONNode(text, try text.span.jsonSkipValue(&at)))
    }
    return elements
  }

  /// A string's text, escapes resolved; what is not UTF-8 is replaced.
  package var string: String? { value.isString ? text.span.jsonString(value) : nil }

  /// An integer from 0 to 2^53 - 1.
  package var integer: Int64? { text.span.jsonSequence(value) }

  package var boolean: Bool? {
    switch value.kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  package var isObject: Bool { value.kind == .object }

  /// Calls `read` at each member or element. The text has been checked, so nothing is thrown.
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
