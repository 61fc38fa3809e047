internal import Glibc
internal import Platform

/// The machine on which the benchmark runs.
enum BenchMachine {
  /// The facts that can be determined automatically.
  static var facts: [BenchReport.Fact] {
    var system = utsname()
    unsafe uname(&system)
    let release = unsafe withUnsafeBytes(of: &system.release) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return [
      .init("processor", processor ?? "unknown"),
      .init("cores", "\(ProcessorCount.usable)"),
      // Without what a distribution or a host adds to it.
      .init("kernel", "Linux \(release.prefix { $0 != "-" })"),
    ]
  }

  /// UTC, RFC 3339.
  static var date: String {
    var now = time(nil)
    var parts = unsafe tm()
    unsafe gmtime_r(&now, &parts)
    func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let day = unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    return unsafe "\(day)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
  }

  /// Describes what an fsync costs in this folder.
  static func disk(_ folder: String) -> BenchReport.Fact {
    let kind = Folder.fileSystem(of: folder) ?? "unknown"
    let isInMemory = kind == "tmpfs" || kind == "ramfs"
    return .init("file system", isInMemory ? "\(kind), where syncs are free" : kind)
  }

  /// The CPU time that other processes have used since the machine started: all except this process
  /// and its ended children. proc(5), `stat`.
  static var busySeconds: Double {
    let text = (try? TextFile.read("/proc/stat")) ?? []
    let line = String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let ticks = line.split(separator: " ").dropFirst().prefix(8).map { Double($0) ?? 0 }
    guard ticks.count == 8 else { return 0 }
    // All except idle and iowait.
    let busy = ticks.reduce(0, +) - ticks[3] - ticks[4]
    return busy / Double(sysconf(Int32(_SC_CLK_TCK))) - ProcessorTime.own - ProcessorTime.children
  }

  private static var processor: String? {
    let text = (try? TextFile.read("/proc/cpuinfo")) ?? []
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n")
    where line.hasPrefix("model name") {
      let name = line.split(separator: ":", maxSplits: 1).last.map(String.init) ?? ""
      return name.split(separator: " ").joined(separator: " ")
    }
    return nil
  }
}

extension ProcessorTime {
  /// The CPU time of children that this process has waited for.
  fileprivate static var children: Double {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}
