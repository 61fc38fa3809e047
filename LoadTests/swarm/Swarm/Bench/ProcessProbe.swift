internal import Glibc

/// What a process takes of the machine, seen from outside.
struct ProcessProbe {
  let id: pid_t

  /// All that its threads have used, also those that have ended, to the nanosecond:
  /// clock_getcpuclockid(3). Nothing if it is gone.
  var cpuSeconds: Double {
    var clock = clockid_t()
    var time = timespec()
    guard unsafe clock_getcpuclockid(id, &clock) == 0, unsafe clock_gettime(clock, &time) == 0
    else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The same for each name of a thread, those that differ in a number at the end as one:
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

  /// What it holds of the memory.
  var residentBytes: Int { ResidentMemory.bytes(of: id) ?? 0 }

  /// The most it has held since ``forgetPeak()``: proc(5), `VmHWM`.
  var peakBytes: Int {
    let status = (try? TextFile.read("/proc/\(id)/status")) ?? []
    for line in String(decoding: status, as: UTF8.self).split(separator: "\n")
    where line.hasPrefix("VmHWM:") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if words.count > 1, let kibibytes = Int(words[1]) { return kibibytes * 1024 }
    }
    return residentBytes
  }

  /// proc(5): 5 in `clear_refs` sets the peak to what is held now.
  func forgetPeak() { try? TextFile.write("5", to: "/proc/\(id)/clear_refs") }

  /// Everyone in the process group that this one leads.
  var group: [ProcessProbe] {
    Self.names(in: "/proc").compactMap { name in
      guard let id = pid_t(name), Self.fields(of: id, from: 5).first == String(self.id) else {
        return nil
      }
      return ProcessProbe(id: id)
    }
  }

  /// The first process, or thread of the kernel, with this name.
  static func named(_ name: String) -> ProcessProbe? {
    for entry in names(in: "/proc") {
      if let id = pid_t(entry), line("/proc/\(id)/comm") == name { return ProcessProbe(id: id) }
    }
    return nil
  }

  /// proc(5), `stat`, from a field on; those behind the name, which may hold anything.
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
    ((try? Directory.entries(of: folder)) ?? []).map(\.name).filter { $0.first?.isNumber ?? false }
  }
}
