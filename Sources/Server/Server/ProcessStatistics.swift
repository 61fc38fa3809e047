import Glibc

/// The operating system's statistics of this process.
struct ProcessStatistics {
  /// The resident memory.
  var residentBytes = 0
  var cpuSeconds = 0.0
  /// By the thread's name, in order; those that have ended do not count.
  var threadSeconds: [(String, Double)] = []
  var openDescriptors = 0
  var descriptorLimit = 0
  /// Seconds since 1970.
  var startedAt: Double

  /// Collects the statistics.
  /// - Parameter startedAt: seconds since 1970.
  init(startedAt: Double) {
    self.startedAt = startedAt
    var usage = rusage()
    if unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
      cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
    }
    var limit = rlimit()
    if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      descriptorLimit = Int(clamping: limit.rlim_cur)
    }
    // proc_pid_statm(5): the second number is the resident pages.
    let numbers = Self.text(of: "/proc/self/statm").split(separator: " ")
    residentBytes =
      (numbers.dropFirst().first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    threadSeconds = Self.threadSeconds().sorted { $0.key < $1.key }
    openDescriptors = Self.countDescriptors()
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
  }

  /// Threads with the same name are added up.
  private static func threadSeconds() -> [String: Double] {
    var seconds: [String: Double] = [:]
    guard let folder = unsafe opendir("/proc/self/task") else { return seconds }
    defer { unsafe closedir(folder) }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    while let entry = unsafe readdir(folder) {
      let thread = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      // proc_pid_stat(5): the name in parentheses, the state, and as 11th and 12th number after it the time
      // in user and in kernel mode.
      let stat = text(of: "/proc/self/task/\(thread)/stat")
      guard let start = stat.firstIndex(of: "("), let end = stat.lastIndex(of: ")") else {
        continue
      }
      let numbers = stat[end...].split(separator: " ").dropFirst(12).prefix(2)
      let name = String(stat[stat.index(after: start)..<end])
      seconds[name, default: 0] += numbers.reduce(0) { $0 + (Double($1) ?? 0) } / ticks
    }
    return seconds
  }

  /// Since Linux 6.2 the size of the folder is the count; before that, the entries are counted.
  private static func countDescriptors() -> Int {
    let path = "/proc/self/fd"
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_size > 0 { return Int(status.st_size) }
    guard let folder = unsafe opendir(path) else { return 0 }
    defer { unsafe closedir(folder) }
    // Without its own descriptor, `.` and `..`.
    var count = -3
    while unsafe readdir(folder) != nil { count += 1 }
    return count
  }

  private static func text(of path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
