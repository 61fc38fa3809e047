package import Wire

/// One entry as a line of an export: the `message` object of relay.v1, followed by `epoch`.
///
/// A `data` entry may have line breaks between its values, since it is stored byte for byte. They
/// become spaces in the line's `data`, and the line has a third member, `raw`: the original bytes
/// as a string. So an entry is always one line, and an import restores the exported bytes.
package struct ExportLine: Equatable {
  package var entry: Entry
  package var epoch: String

  /// Why a line cannot be imported.
  package struct Malformed: Error {
    package var reason: String
    /// `nil` = the current line.
    package var line: Int?

    package init(reason: String, line: Int? = nil) {
      self.reason = reason
      self.line = line
    }
  }

  private static let dataKey = Array("\"data\":".utf8)

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    var flat = entry
    flat.body = Self.flattened(entry.body)
    flat.append(to: &bytes)
    bytes.removeLast()
    bytes += Array(",\"epoch\":".utf8)
    bytes.append(jsonString: epoch)
    if flat.body != entry.body, let data = entry.data {
      bytes += Array(",\"raw\":".utf8)
      bytes.append(jsonString: String(decoding: data, as: UTF8.self))
    }
    bytes += Array("}\n".utf8)
  }

  /// Appends the `message` object of an entry as one line.
  static func append(_ entry: Entry, to bytes: inout [UInt8]) {
    var flat = entry
    flat.body = flattened(entry.body)
    flat.append(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  package init(entry: Entry, epoch: String) {
    self.entry = entry
    self.epoch = epoch
  }

  /// Decodes a line, without its line break, and checks that relay.v1 allows the entry.
  package init(decoding line: [UInt8]) throws(Malformed) {
    guard String(validating: line, as: UTF8.self) != nil else {
      throw Malformed(reason: "it is not valid UTF-8")
    }
    do {
      entry = try Entry(decoding: line.span)
    } catch {
      switch error {
      case .json: throw Malformed(reason: "it is not a JSON object")
      case .field(_, let name):
        throw Malformed(reason: "\"\(name)\" is missing or invalid")
      case .unknownType(let type): throw Malformed(reason: "\"\(type)\" is not an entry")
      }
    }
    guard let epoch = Self.string("epoch", in: line), !epoch.isEmpty else {
      throw Malformed(reason: "\"epoch\" is missing or not a string")
    }
    self.epoch = epoch
    if let raw = Self.string("raw", in: line) {
      let body = Self.dataKey + Array(raw.utf8)
      guard entry.kind == .data, Self.flattened(body) == entry.body else {
        throw Malformed(reason: "\"raw\" and \"data\" differ")
      }
      entry.body = body
    }
    try check()
  }

  private func check() throws(Malformed) {
    guard entry.kind.isKnown else {
      throw Malformed(
        reason: "the kind \"\(entry.kind.rawValue)\" is unknown")
    }
    guard RoomName.isValid(entry.room) else {
      throw Malformed(reason: "\"\(entry.room)\" is not a valid room name")
    }
    guard UserName.isValid(entry.from) else {
      throw Malformed(reason: "\"\(entry.from)\" is not a valid user name")
    }
    guard (1...64).contains(entry.id.utf8.count),
      entry.id.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { throw Malformed(reason: "the \"id\" is not 1 to 64 printable ASCII characters") }
    guard !entry.hasLoneSurrogate else {
      throw Malformed(reason: "a string has half of a surrogate pair")
    }
    guard entry.seq > 0 else { throw Malformed(reason: "\"seq\" must be at least 1") }
    if let file = entry.file {
      guard FileContent.isValid(id: file.id) else {
        throw Malformed(reason: "\"file\" is not the id of a file")
      }
      guard FileContent.isValid(name: file.name) else {
        throw Malformed(reason: "\"name\" is not a name of a file")
      }
    }
    if !entry.kind.isContent, !entry.kind.isNotice, let target = entry.target,
      target >= entry.seq
    {
      throw Malformed(reason: "\"target\" \(target) is not an earlier entry")
    }
  }

  private static func flattened(_ body: [UInt8]) -> [UInt8] {
    body.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
  }

  /// Returns a string member of an object that is known to be valid JSON; the last one if it is
  /// repeated.
  private static func string(_ name: String, in json: [UInt8]) -> String? {
    var members = TopLevelMembers(json)
    var literal: ArraySlice<UInt8>?
    while let (key, value) = members.next() {
      if key.elementsEqual("\"\(name)\"".utf8) { literal = value }
    }
    guard let literal, literal.first == UInt8(ascii: "\"") else { return nil }
    // The content of a `text` entry is a JSON string, too, so its reader resolves the escapes.
    return Entry(
      room: "", seq: 0, id: "", from: "", at: 0, kind: .text,
      body: Array("\"text\":".utf8) + literal
    ).text
  }
}

/// The members of one object, which must be valid JSON.
private struct TopLevelMembers {
  private let json: [UInt8]
  private var at: Int

  init(_ json: [UInt8]) {
    self.json = json
    at = (json.firstIndex(of: UInt8(ascii: "{")) ?? json.endIndex - 1) + 1
  }

  mutating func next() -> (key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
    skip { $0 <= 0x20 || $0 == UInt8(ascii: ",") }
    guard at < json.count, json[at] == UInt8(ascii: "\"") else { return nil }
    let key = take()
    skip { $0 <= 0x20 || $0 == UInt8(ascii: ":") }
    return (key, take())
  }

  private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
    while at < json.count, isSkipped(json[at]) { at += 1 }
  }

  /// Takes one value: a string to its quote, a container to its end, a literal to the next
  /// delimiter.
  private mutating func take() -> ArraySlice<UInt8> {
    let start = at
    var depth = 0
    repeat {
      switch json[at] {
      case UInt8(ascii: "\""):
        at += 1
        while json[at] != UInt8(ascii: "\"") { at += json[at] == UInt8(ascii: "\\") ? 2 : 1 }
        at += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        at += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        at += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"), 0...0x20: at += 1
      default:
        while at < json.count, !",:]} \n\r\t".utf8.contains(json[at]) { at += 1 }
      }
    } while depth > 0
    return json[start..<at]
  }
}
