import Platform
import Wire

/// The table of `--people`: a line for each person, with the name there and the user here.
public struct PeopleTable: Sendable {
  let users: [String: String]

  public init() { users = [:] }

  public init(file path: String) throws(UnreadableExport) {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try WholeFile.read(path, limitBytes: ImportLimits.tableBytes)
    } catch {
      throw UnreadableExport(path, "cannot be read: \(error.reason)")
    }
    var users: [String: String] = [:]
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let text = String(decoding: line, as: UTF8.self)
      if text.hasPrefix("#") || text.allSatisfy(\.isWhitespace) { continue }
      // A name may have blanks, and a user has none.
      let words = text.split(whereSeparator: \.isWhitespace)
      let name = words.dropLast().joined(separator: " ")
      guard words.count >= 2, let user = words.last.map(String.init), UserName.isValid(user),
        user != UserName.relay
      else {
        throw UnreadableExport(
          path, line: index + 1,
          "is no name there and a user here, of a-z 0-9 . _ -, such as: Zoë zoe")
      }
      guard users.updateValue(user, forKey: name) == nil else {
        throw UnreadableExport(path, line: index + 1, "names \(name) again; leave one of the lines")
      }
    }
    self.users = users
  }
}
