internal import CLinux
internal import Glibc

extension ChildProgram {
  /// Starts a program that inherits nothing: no variable of the environment, and no descriptor but these. Its errors go
  /// nowhere.
  ///
  /// It does not depend on how the other descriptors of this process were opened: all that follow are closed.
  /// - Parameter descriptors: Its descriptors from 3 on.
  static func startIsolated(
    _ words: [String], input: Int32, output: Int32, descriptors: [Int32]
  ) throws(SystemError) -> Int32 {
    let errors = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard errors >= 0 else { throw SystemError.last("open /dev/null") }
    defer { close(errors) }
    let sources = [input, output, errors] + descriptors
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (target, source) in sources.enumerated() {
      // Above all targets, so that none replaces a source that is still needed.
      let copy = fcntl(source, F_DUPFD_CLOEXEC, Int32(sources.count))
      guard copy >= 0 else { throw SystemError.last("duplicate descriptor \(source)") }
      copies.append(copy)
      unsafe posix_spawn_file_actions_adddup2(&actions, copy, Int32(target))
    }
    unsafe clinux_close_from(&actions, Int32(sources.count))
    return try unsafe spawn(words, environment: [], actions: &actions, flags: 0)
  }
}
