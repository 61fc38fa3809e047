import Glibc
import Mixing
import Pictures
import Platform

/// Pictures on disk, as they are sent to the terminal: files of one size, in a folder of their own,
/// readable by their owner only.
struct PictureCache {
  /// The most files; beyond it the oldest are deleted.
  static let filesLimit = 500
  /// As long as the relay keeps them.
  static let daySeconds = 86_400

  private let folder: String
  private let side: Int

  /// - Parameter stateFolder: Of `Archive.path`.
  init(stateFolder: String, side: Int) {
    folder = "\(stateFolder)/wschat/pictures"
    self.side = side
    try? PrivateFiles.createFolder(folder)
  }

  private func path(_ key: String) -> String {
    // Two hashes: a collision would show another person.
    let digits = [key, "\(key)\u{0}"].map { String(FNV1a.hash($0), radix: 16) }
    return "\(folder)/\(digits.joined(separator: "-")).rgba"
  }

  /// Returns the picture of a key that is not older than a day.
  func picture(for key: String) -> Picture? {
    let path = path(key)
    var status = stat()
    guard unsafe stat(path, &status) == 0,
      status.st_mtim.tv_sec > time(nil) - Self.daySeconds
    else { return nil }
    guard let bytes = try? WholeFile.read(path, limitBytes: 4 * side * side) else { return nil }
    return Picture(width: side, height: side, bytes: bytes)
  }

  func keep(_ picture: Picture, for key: String) {
    guard picture.width == side, picture.height == side else { return }
    try? WholeFile.replace(path(key), with: picture.bytes)
    trim()
  }

  private func trim() {
    var files: [(path: String, age: Int)] = []
    for name in PrivateFiles.names(in: folder) ?? [] {
      guard name.contains(".rgba") else { continue }
      var status = stat()
      let path = "\(folder)/\(name)"
      if unsafe stat(path, &status) == 0 { files.append((path, status.st_mtim.tv_sec)) }
    }
    files.sort { $0.age < $1.age }
    for file in files.prefix(max(0, files.count - Self.filesLimit)) {
      _ = unsafe unlink(file.path)
    }
  }
}
