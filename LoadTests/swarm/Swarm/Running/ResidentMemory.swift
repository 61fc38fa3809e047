internal import Glibc

/// The resident memory of processes.
enum ResidentMemory {
  /// Reads the second field of `statm`, which counts pages, see proc(5); `nil` if there is no such
  /// process.
  static func bytes(of id: pid_t) -> Int? {
    guard let bytes = try? TextFile.read("/proc/\(id)/statm") else { return nil }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
