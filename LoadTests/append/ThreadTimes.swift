import Glibc

/// The CPU time of each thread of this process (`/proc/self/task/*/schedstat`).
struct ThreadTimes {
  /// Nanoseconds by thread name; threads with the same name are added up.
  private(set) var nanoseconds: [String: Int64] = [:]

  /// Reads the current values. Threads that have ended are not included.
  init() {
    guard let folder = unsafe opendir("/proc/self/task") else { return }
    defer { unsafe closedir(folder) }
    while let entry = unsafe readdir(folder) {
      let id = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard id.first?.isNumber == true,
        let name = Self.read("/proc/self/task/\(id)/comm"),
        let time = Self.read("/proc/self/task/\(id)/schedstat")?.split(separator: " ").first
      else { continue }
      nanoseconds[name, default: 0] += Int64(time) ?? 0
    }
  }

  /// Returns the total of all threads whose names begin with `prefix`.
  func total(_ prefix: String) -> Int64 {
    nanoseconds.reduce(0) { $0 + ($1.key.hasPrefix(prefix) ? $1.value : 0) }
  }

  private static func read(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = Array(repeating: 0, count: 256)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    return String(text.prefix { $0 != "\n" })
  }
}
