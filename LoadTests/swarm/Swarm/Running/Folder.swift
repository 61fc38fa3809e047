internal import Glibc
internal import Platform

/// Operations on folders of the file system.
enum Folder {
  /// Returns the entries of a folder, without `.` and `..`.
  static func entries(
    of path: String
  ) throws(SystemError) -> [(name: String, isFolder: Bool)] {
    guard let folder = unsafe opendir(path) else { throw SystemError.last("open \(path)") }
    defer { unsafe closedir(folder) }
    var entries: [(name: String, isFolder: Bool)] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      entries.append((name, unsafe entry.pointee.d_type == UInt8(DT_DIR)))
    }
    return entries
  }

  /// Removes a folder and its content; what cannot be removed stays.
  static func remove(_ path: String) {
    for entry in (try? entries(of: path)) ?? [] {
      let inner = "\(path)/\(entry.name)"
      if entry.isFolder { remove(inner) } else { unsafe unlink(inner) }
    }
    unsafe rmdir(path)
  }

  /// Creates a new folder whose name begins with `prefix`.
  static func makeTemporary(_ prefix: String) throws(SystemError) -> String {
    var template = Array("\(prefix).XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp \(prefix).") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns the type of the file system that contains a path, such as `ext4`: proc(5), `mounts`.
  static func fileSystem(of path: String) -> String? {
    let text = (try? TextFile.read("/proc/self/mounts")) ?? []
    var best: (length: Int, kind: Substring)?
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2 else { continue }
      let place = fields[1] == "/" ? "" : fields[1]
      guard path == place || path.hasPrefix("\(place)/") else { continue }
      // Of several mounts at one place the last is on top.
      if place.utf8.count >= best?.length ?? 0 { best = (place.utf8.count, fields[2]) }
    }
    return best.map { String($0.kind) }
  }
}
