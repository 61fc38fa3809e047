internal import Glibc
internal import Platform
internal import YAML

/// A people file: a YAML list of `user`, `name` and `avatar`.
package struct PeopleFile: Equatable {
  var listing = Listing()
  /// The people that were skipped, a sentence with the line each.
  package var remarks: [String] = []

  /// Why a file was rejected: all of its errors, a sentence with file and line each.
  package struct Failure: Error, Equatable {
    package var sentences: [String]
    /// Whether the file does not exist.
    var isMissing = false
    /// The line of the first error, if it has one.
    var line: Int?
  }

  /// Larger than any list written by hand.
  static let limitBytes = 16 << 20
  private static let remarksLimit = 20

  /// An empty list.
  init() {}

  /// Blocks.
  package static func read(_ path: String) throws(Failure) -> PeopleFile {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try WholeFile.read(path, limitBytes: limitBytes, waits: false)
    } catch {
      throw Failure(
        sentences: [
          "\(path) cannot be read: \(error). Set directory.file to a file that the relay can read."
        ],
        isMissing: error.code == ENOENT)
    }
    return try PeopleFile(bytes, path)
  }

  init(_ bytes: [UInt8], _ path: String) throws(Failure) {
    let document = YAMLDocument(bytes)
    var faults = document.faults
    var misfits: [YAMLDocument.Fault] = []
    if let root = document.root, !root.isNull {
      if let elements = root.list {
        for (index, element) in elements.enumerated() {
          add(element, index, &faults, &misfits)
        }
      } else {
        faults.append(
          YAMLDocument.Fault(
            line: root.line, found: "is \(root.shown)",
            expected: "expected a list such as [{ user: ada, name: Ada }]"))
      }
    }
    guard faults.isEmpty else {
      throw Failure(
        sentences: faults.map { Self.sentence($0, path) }, line: faults.first?.line)
    }
    remarks = misfits.prefix(Self.remarksLimit).map { Self.sentence($0, path) }
    if misfits.count > remarks.count {
      remarks.append("\(path): \(misfits.count - remarks.count) more invalid names are left out.")
    }
  }

  private mutating func add(
    _ node: YAMLNode, _ index: Int, _ faults: inout [YAMLDocument.Fault],
    _ misfits: inout [YAMLDocument.Fault]
  ) {
    var fields = YAMLFields(node, at: "[\(index)]", known: ["user", "name", "avatar"])
    let login = fields.required("user", "expected a user name", \.text)
    let name = fields.optional("name", "expected a printable name") {
      $0.text.flatMap(Listing.shown)
    }
    let avatar = fields.optional("avatar", "expected an http or https address") {
      $0.text.flatMap(Listing.picture)
    }
    guard fields.faults.isEmpty, let login else {
      faults += fields.faults
      return
    }
    if Listing.user(login) == nil {
      misfits.append(
        YAMLDocument.Fault(
          line: node.line, key: "[\(index)].user",
          found: "is \(YAMLText.quoted(login)) and left out",
          expected: "expected 1 to 64 of a-z 0-9 . _ -, not . or .."))
    }
    listing.add(login: login, name: name, avatar: avatar)
  }

  private static func sentence(_ fault: YAMLDocument.Fault, _ path: String) -> String {
    "\(path):\(fault.line): \(fault.key)\(fault.key.isEmpty ? "" : " ")\(fault.found); \(fault.expected)"
  }
}
