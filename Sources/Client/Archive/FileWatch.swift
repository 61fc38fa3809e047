internal import Glibc

/// Reports that a file was written, by this process or another: an inotify(7) descriptor.
struct FileWatch: ~Copyable {
  /// Readable when the file was written since the last `clear`; -1 if the system has no watches
  /// left.
  let descriptor: Int32
  private var watch: Int32 = -1

  init(path: String) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    follow(path: path)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  var isWatching: Bool { watch >= 0 }

  /// Watches another file, or a new one of the same name, instead.
  mutating func follow(path: String) {
    guard descriptor >= 0 else { return }
    if watch >= 0 { _ = inotify_rm_watch(descriptor, watch) }
    watch = unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY))
  }

  func clear() {
    guard descriptor >= 0 else { return }
    // Equal events that follow each other are one, so that this is seldom more than one read.
    var events = [UInt8](repeating: 0, count: 4096)
    while unsafe read(descriptor, &events, events.count) > 0 {}
  }
}
