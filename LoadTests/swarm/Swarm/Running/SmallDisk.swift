internal import CLinux
internal import Glibc
internal import Platform
internal import Synchronization

/// A file system in memory that a relay keeps its data on, so that its disk can be made full: every
/// allocation is then refused by the kernel (`ENOSPC`), as on any full disk.
///
/// It is mounted for this process and its children alone, and goes with them, however they end. It
/// belongs to the thread that made it, and to those which that thread has made since.
struct SmallDisk: ~Copyable {
  /// Less than that, and a relay cannot even start on it.
  static let leastBytes = 4 << 20
  /// It lies in memory: more is a mistake in a unit.
  static let mostBytes = 16 << 30
  /// The disk changes while its size is set.
  private static let attempts = 1000

  private let path: String
  private let sizeBytes: UInt64
  /// So many steps want it to be full.
  private var fillings = 0

  /// After ``enterOwnMounts()``.
  /// - Parameter path: a folder, empty.
  init(at path: String, bytes: Int) throws {
    self.path = path
    sizeBytes = UInt64(bytes)
    guard unsafe clinux_mount_memory(path, sizeBytes) == 0 else {
      throw Self.refusal(.last("mount a tmpfs of \(bytes) bytes"))
    }
  }

  deinit { _ = unsafe clinux_unmount(path) }

  /// Whether who asks sees this disk, as the programs do that it starts.
  var isMounted: Bool { space != nil }

  /// From now on there is no space; to be called again and again, since what is freed would be.
  mutating func fill() throws(SystemError) {
    fillings += 1
    try keepFull()
  }

  /// Takes what has been freed since it was filled.
  func keepFull() throws(SystemError) {
    guard fillings > 0 else { return }
    for _ in 0..<Self.attempts {
      guard let space else { throw .last("statfs \(path)") }
      if space.available == 0 { return }
      // Nothing would mean: as much as you like.
      let bytes = max(space.used, 1)
      if unsafe clinux_resize_memory(path, bytes) == 0 { continue }
      // More has come into use meanwhile.
      guard errno == EINVAL else { throw .last("remount \(path)") }
    }
  }

  /// There is space again, unless somebody else still wants it to be full.
  mutating func free() throws(SystemError) {
    fillings -= 1
    guard fillings == 0 else { return }
    guard unsafe clinux_resize_memory(path, sizeBytes) == 0 else {
      throw .last("remount \(path)")
    }
  }

  private var space: (used: UInt64, available: UInt64)? {
    var (used, available): (UInt64, UInt64) = (0, 0)
    return unsafe clinux_memory_space(path, &used, &available) == 0 ? (used, available) : nil
  }

  // MARK: Mounts of one's own

  private static let hasOwnMounts = Atomic(false)

  /// Once is enough for a process: a second user namespace would lie within the first.
  static func enterOwnMounts() throws {
    guard !hasOwnMounts.load(ordering: .acquiring) else { return }
    guard clinux_unshare_mounts() == 0 else { throw refusal(.last("unshare")) }
    hasOwnMounts.store(true, ordering: .releasing)
  }

  private static func refusal(_ error: SystemError) -> Run.Failure {
    Run.Failure(
      description: "spawn.disk_bytes needs a mount of its own, which the system refuses (\(error));"
        + " run swarm as root (in a container with CAP_SYS_ADMIN), or allow user namespaces to"
        + " everyone (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone,"
        + " kernel.apparmor_restrict_unprivileged_userns)",
      isUsage: true)
  }
}
