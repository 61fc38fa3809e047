internal import CLinux
internal import Glibc
internal import Platform
internal import Synchronization

/// A file system in memory for a relay's data that can be made full: the kernel then refuses every
/// allocation (`ENOSPC`), as on any full disk.
///
/// It is mounted only for this process and its children, and disappears with them, however they
/// end. It is visible to the thread that created it and to threads that this thread has created
/// since.
struct SmallDisk: ~Copyable {
  /// A relay cannot start on a smaller one.
  static let leastBytes = 4 << 20
  /// It is in memory: a larger size is a mistake in a unit.
  static let mostBytes = 16 << 30
  /// The maximum number of attempts to set the size, while the relay allocates.
  private static let attempts = 1000

  private let path: String
  private let sizeBytes: UInt64
  /// The number of steps that require it to be full.
  private var fillings = 0

  /// Call ``enterOwnMounts()`` first.
  /// - Parameter path: An empty folder.
  init(at path: String, bytes: Int) throws {
    self.path = path
    sizeBytes = UInt64(bytes)
    guard unsafe clinux_mount_memory(path, sizeBytes) == 0 else {
      throw Self.refusal(.last("mount a tmpfs of \(bytes) bytes"))
    }
  }

  deinit { _ = unsafe clinux_unmount(path) }

  /// Whether the calling thread, and programs that it starts, see this disk.
  var isMounted: Bool { space != nil }

  /// Fills the disk; ``keepFull()`` must be called repeatedly to fill space that is freed.
  mutating func fill() throws(SystemError) {
    fillings += 1
    try keepFull()
  }

  /// Fills the space that was freed since.
  func keepFull() throws(SystemError) {
    guard fillings > 0 else { return }
    for _ in 0..<Self.attempts {
      guard let space else { throw .last("statfs \(path)") }
      if space.available == 0 { return }
      // 0 would mean no limit.
      let bytes = max(space.used, 1)
      if unsafe clinux_resize_memory(path, bytes) == 0 { continue }
      // More has been allocated meanwhile.
      guard errno == EINVAL else { throw .last("remount \(path)") }
    }
  }

  /// Frees the space, unless another step requires the disk to be full.
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

  // MARK: Mount namespace

  private static let hasOwnMounts = Atomic(false)

  /// Enters a mount namespace once per process: a second user namespace would be nested in the
  /// first.
  static func enterOwnMounts() throws {
    guard !hasOwnMounts.load(ordering: .acquiring) else { return }
    guard clinux_unshare_mounts() == 0 else { throw refusal(.last("unshare")) }
    hasOwnMounts.store(true, ordering: .releasing)
  }

  private static func refusal(_ error: SystemError) -> Run.Failure {
    Run.Failure(
      description: "spawn.disk_bytes requires a mount, which the system refuses (\(error));"
        + " run swarm as root (in a container with CAP_SYS_ADMIN), or allow user namespaces to"
        + " everyone (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone,"
        + " kernel.apparmor_restrict_unprivileged_userns)",
      isUsage: true)
  }
}
