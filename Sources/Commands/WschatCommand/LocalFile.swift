import Glibc
import Wire

/// A file of this machine that is to be sent, by the path that the user has given.
enum LocalFile {
  /// Returns the path with the home folder in place of a `~` at its start.
  static func expanded(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let home = Environment["HOME"] else { return path }
    return home + path.dropFirst()
  }

  /// Returns the name under which a file is sent: that of its path, where it can be one.
  static func name(of path: String) -> String {
    let last = path.split(separator: "/").last.map(String.init) ?? ""
    if FileContent.isValid(name: last) { return last }
    var name = ""
    for character in last {
      let next = FileContent.isValid(name: "x\(character)") ? character : "_"
      guard name.utf8.count + next.utf8.count <= FileContent.nameLimitBytes else { break }
      name.append(next)
    }
    return FileContent.isValid(name: name) ? name : "file"
  }
}
