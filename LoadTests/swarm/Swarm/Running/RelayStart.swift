internal import CLinux
internal import Glibc
internal import Platform

/// Waits until a relay that was just started announces its port. It does not poll: the relay's
/// output, its end and the user's Ctrl-C wake it.
struct RelayStart: ~Copyable {
  /// How long the start may take.
  private static let limitMilliseconds = 30_000
  private static let marks = ["listening on ws://127.0.0.1:", "listening on wss://127.0.0.1:"]

  private let folder: RelayFolder
  /// inotify(7): readable when the log has changed.
  private let changes: Int32

  /// Must be created before the relay is started.
  init(watching folder: RelayFolder) throws {
    self.folder = folder
    changes = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard changes >= 0 else { throw SystemError.last("inotify_init1") }
    guard unsafe inotify_add_watch(changes, folder.log, UInt32(IN_MODIFY)) >= 0 else {
      throw SystemError.last("inotify_add_watch \(folder.log)")
    }
  }

  deinit { close(changes) }

  /// Returns the port; throws if the relay ends first, takes too long, or the user interrupts.
  func port(of id: pid_t, interruption: Int32?) throws -> UInt16 {
    let process = clinux_process_descriptor(id)
    guard process >= 0 else { throw SystemError.last("pidfd_open") }
    defer { close(process) }
    let deadline = Instant.now().adding(milliseconds: Self.limitMilliseconds)
    while true {
      forgetChanges()
      if let port = Self.port(in: folder.logText) { return port }
      let left = deadline.milliseconds(since: .now())
      guard left > 0 else {
        throw failure("did not listen within \(Self.limitMilliseconds / 1000) s", isUsage: false)
      }
      var events = [changes, process, interruption ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard unsafe poll(&events, 3, Int32(left)) >= 0 else {
        if errno == EINTR { continue }
        throw SystemError.last("poll")
      }
      if events[2].revents != 0 { throw Run.Interruption() }
      if events[1].revents != 0 {
        // Its last output may have arrived together with its end.
        if let port = Self.port(in: folder.logText) { return port }
        throw failure(endedBy: id)
      }
    }
  }

  private func forgetChanges() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while unsafe read(changes, &buffer, buffer.count) > 0 {}
  }

  private static func port(in text: String) -> UInt16? {
    guard let start = marks.lazy.compactMap({ text.firstRange(of: $0) }).first else { return nil }
    let digits = text[start.upperBound...].prefix { $0.isNumber }
    guard text[digits.endIndex...].hasPrefix("/ws\n") else { return nil }
    return UInt16(digits)
  }

  /// Describes the end. Leaves the process a zombie, for its owner to reap.
  private func failure(endedBy id: pid_t) -> Run.Failure {
    var end = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(id), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let status = unsafe end._sifields._sigchld.si_status
    guard unsafe end.si_code == Int32(CLD_EXITED) else {
      return failure("was killed by signal \(status) before it listened", isUsage: false)
    }
    // These exit codes mean a wrong configuration, incorrect usage, or (from a shell) a command
    // that cannot be run: the scenario is at fault.
    let isUsage = [1, 2, 126, 127].contains(status)
    return failure(
      "exited with code \(status) before it listened"
        + (isUsage ? ": check spawn in the scenario" : ""), isUsage: isUsage)
  }

  private func failure(_ what: String, isUsage: Bool) -> Run.Failure {
    let text = folder.logText
    return Run.Failure(
      description: "the relay that the scenario spawns \(what)"
        + (text.isEmpty ? "; it wrote nothing" : "; it wrote:\n\(text.trimmingSuffix("\n"))"),
      isUsage: isUsage)
  }
}

extension String {
  /// Returns the string without this character at its end, repeated or not.
  fileprivate func trimmingSuffix(_ character: Character) -> Substring {
    self[..<(lastIndex { $0 != character }.map(index(after:)) ?? startIndex)]
  }
}
