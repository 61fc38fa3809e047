import Glibc

/// The operating system's statistics of this process.
struct ProcessStatistics {
  /// The resident memory.
  var residentBytes = 0
  var cpuSeconds = 0.0
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
    openDescriptors = Self.countDescriptors()
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
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
