import Glibc
import Platform

/// A new folder that only its owner can enter, for files that another program is given.
struct PrivateFolder {
  let path: String

  /// Creates it where what a crash leaves is gone with the session, or else with other temporary
  /// files.
  init() throws(SystemError) {
    let places = [Environment["XDG_RUNTIME_DIR"], Environment["TMPDIR"], "/tmp"]
    var failure = SystemError("create a folder in /tmp", code: ENOENT)
    for case .some(let place) in places where place.hasPrefix("/") {
      // With mode 700 (mkdtemp(3)).
      var template = Array("\(place)/wschat-XXXXXX".utf8CString)
      if unsafe mkdtemp(&template) != nil {
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        return
      }
      failure = SystemError.last("create a folder in \(place)")
    }
    throw failure
  }

  /// Removes the folder with everything that other programs have left there, also folders.
  func remove() {
    let words = ["rm", "-rf", "--", path]
    guard
      let process = try? ChildProgram.start(
        words, input: .null, output: .null, errors: .null)
    else { return }
    ChildProgram.wait(for: process)
  }
}
