internal import Glibc

/// The resource use of another process.
struct ProcessProbe {
  let id: pid_t

  /// The CPU time of all threads, including ended ones, with a resolution of a nanosecond:
  /// clock_getcpuclockid(3). 0 if the process is gone.
  var cpuSeconds: Double {
    var clock = clockid_t()
    var time = timespec()
    guard unsafe clock_getcpuclockid(id, &clock) == 0, unsafe clock_gettime(clock, &time) == 0
    else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The same by thread name, where names that differ only in a number at the end are merged:
  /// proc(5), the first field of `task/…/schedstat`.
  var threadSeconds: [String: Double] {
    var seconds: [String: Double] = [:]
    for thread in Self.names(in: "/proc/\(id)/task") {
      let folder = "/proc/\(id)/task/\(thread)"
      guard let name = Self.line("\(folder)/comm"),
        let nanoseconds = Self.line("\(folder)/schedstat")?.split(separator: " ").first
          .flatMap({ Double($0) })
      else { continue }
      var family = Substring(name)
      while let last = family.last, last.isNumber { family.removeLast() }
      if family.hasSuffix("-") { family.removeLast() }
      seconds[String(family), default: 0] += nanoseconds / 1e9
    }
    return seconds
  }

  /// Its resident memory.
  var residentBytes: Int { ResidentMemory.bytes(of: id) ?? 0 }

  /// The peak of its memory since ``forgetPeak()``: proc(5), `VmHWM`.
  var peakBytes: Int {
    let status = (try? TextFile.read("/proc/\(id)/status")) ?? []
    for line in String(decoding: status, as: UTF8.self).split(separator: "\n")
    where line.hasPrefix("VmHWM:") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if words.count > 1, let kibibytes = Int(words[1]) { return kibibytes * 1024 }
    }
    return residentBytes
  }

  /// Resets the peak to the current value: writes 5 to `clear_refs`, see proc(5).
  func forgetPeak() { try? TextFile.write("5", to: "/proc/\(id)/clear_refs") }

  /// The processes of the process group that this one leads.
  var group: [ProcessProbe] {
    Self.names(in: "/proc").compactMap { name in
      guard let id = pid_t(name), Self.fields(of: id, from: 5).first == String(self.id) else {
        return nil
      }
      return ProcessProbe(id: id)
    }
  }

  /// Returns the first process, or kernel thread, with this name.
  static func named(_ name: String) -> ProcessProbe? {
    for entry in names(in: "/proc") {
      if let id = pid_t(entry), line("/proc/\(id)/comm") == name { return ProcessProbe(id: id) }
    }
    return nil
  }

  /// Returns the fields of `stat` from `first` on, see proc(5); only fields after the name, which
  /// may contain any character.
  private static func fields(of id: pid_t, from first: Int) -> [String] {
    let bytes = (try? TextFile.read("/proc/\(id)/stat")) ?? []
    let rest = String(decoding: bytes, as: UTF8.self).split(separator: ")").last ?? ""
    return rest.split(separator: " ").dropFirst(first - 3).map(String.init)
  }

  private static func line(_ path: String) -> String? {
    guard let bytes = try? TextFile.read(path) else { return nil }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  private static func names(in folder: String) -> [String] {
    ((try? Folder.entries(of: folder)) ?? []).map(\.name).filter { $0.first?.isNumber ?? false }
  }
}
