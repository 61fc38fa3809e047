internal import Glibc

/// CPU times of processes.
enum ProcessorTime {
  /// Returns the CPU time of this process, in user mode and in the kernel.
  static var own: Double {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  /// Returns the CPU time of another process: proc(5), fields 14 and 15 of `stat`; `nil` if it does
  /// not exist.
  static func seconds(of id: pid_t) -> Double? { seconds(of: id, fields: 11..<13) }

  /// Returns the CPU time of the children of another process that have ended and were waited for:
  /// fields 16 and 17.
  static func secondsOfEndedChildren(of id: pid_t) -> Double? { seconds(of: id, fields: 13..<15) }

  /// - Parameter fields: counted from the one after the name.
  private static func seconds(of id: pid_t, fields wanted: Range<Int>) -> Double? {
    guard let bytes = try? TextFile.read("/proc/\(id)/stat") else { return nil }
    // The second field may contain any character, and ends with the last parenthesis.
    let rest = String(decoding: bytes, as: UTF8.self).split(separator: ")").last ?? ""
    let fields = rest.split(separator: " ")
    guard fields.count >= wanted.upperBound else { return nil }
    let ticks = fields[wanted].compactMap { Double($0) }
    return ticks.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
