internal import CLinux
internal import Glibc

/// Programs that are run for their output.
extension ChildProgram {
  /// Why there is no output.
  public enum Failure: Error, Equatable, Sendable {
    case notStarted(SystemError)
    case outputTooLong
    case tookTooLong
    case stopped
    /// It ended by itself, but not with exit code 0.
    case ended(Outcome)
  }

  /// Runs a program to its end without standard input, and returns its standard output. Blocks.
  ///
  /// Programs that it has started itself and that outlive it are not waited for.
  /// - Parameters:
  ///   - timeoutMilliseconds: After this time the program is killed; negative = no timeout.
  ///   - stop: A descriptor; the program is killed when that becomes readable.
  ///   - leadsGroup: As in `start`; then what it has started itself is killed, too, at its end.
  ///   - leadsSession: The same, and it has no terminal, also not for its errors.
  public static func output(
    of words: [String], limitBytes: Int, timeoutMilliseconds: Int = -1, stop: Int32 = -1,
    leadsGroup: Bool = false, leadsSession: Bool = false
  ) throws(Failure) -> [UInt8] {
    try output(
      limitBytes: limitBytes, timeoutMilliseconds: timeoutMilliseconds, stop: stop,
      leadsGroup: leadsGroup || leadsSession
    ) { writer throws(SystemError) in
      try start(
        words, input: .null, output: .descriptor(writer),
        errors: leadsSession ? .null : .inherited, leadsGroup: leadsGroup,
        leadsSession: leadsSession)
    }
  }

  /// Runs a program that is not trusted with more than its descriptors to its end, and returns its standard output.
  /// Blocks.
  ///
  /// It inherits nothing: its environment is empty, its errors go nowhere, and it has no descriptors but its standard
  /// ones and the given.
  /// - Parameters:
  ///   - descriptors: Its descriptors from 3 on.
  ///   - timeoutMilliseconds: After this time the program is killed.
  public static func output(
    ofIsolated words: [String], input: Int32, descriptors: [Int32], limitBytes: Int,
    timeoutMilliseconds: Int
  ) throws(Failure) -> [UInt8] {
    try output(limitBytes: limitBytes, timeoutMilliseconds: timeoutMilliseconds) {
      writer throws(SystemError) in
      try startIsolated(words, input: input, output: writer, descriptors: descriptors)
    }
  }

  /// Runs what `start` starts with the given standard output.
  private static func output(
    limitBytes: Int, timeoutMilliseconds: Int, stop: Int32 = -1, leadsGroup: Bool = false,
    start: (Int32) throws(SystemError) -> Int32
  ) throws(Failure) -> [UInt8] {
    let id: Int32
    let output: Int32
    do throws(SystemError) {
      let (reader, writer) = try pipe()
      output = reader
      defer { close(writer) }
      do throws(SystemError) {
        id = try start(writer)
      } catch {
        close(reader)
        throw error
      }
    } catch {
      throw .notStarted(error)
    }
    let result: Result<[UInt8], Failure>
    do throws(Failure) {
      result = .success(
        try read(
          output, of: id, limitBytes: limitBytes, timeoutMilliseconds: timeoutMilliseconds,
          stop: stop))
    } catch {
      result = .failure(error)
      kill(id, SIGKILL)
    }
    close(output)
    // The number of the group stays reserved until its leader has been waited for.
    if leadsGroup { kill(-id, SIGKILL) }
    let outcome = wait(for: id)
    let bytes = try result.get()
    guard outcome == .exit(0) else { throw .ended(outcome) }
    return bytes
  }

  /// Reads until the program exits.
  private static func read(
    _ output: Int32, of id: Int32, limitBytes: Int, timeoutMilliseconds: Int, stop: Int32
  ) throws(Failure) -> [UInt8] {
    let process = clinux_process_descriptor(id)
    guard process >= 0 else { throw .notStarted(SystemError.last("pidfd_open")) }
    defer { close(process) }
    _ = fcntl(output, F_SETFL, O_NONBLOCK)
    let end = Instant.now().adding(milliseconds: timeoutMilliseconds)
    var requests = [output, process, stop].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let left = timeoutMilliseconds < 0 ? -1 : end.milliseconds(since: .now())
      if left == 0 { throw .tookTooLong }
      guard unsafe poll(&requests, 3, Int32(clamping: left)) >= 0 else {
        precondition(errno == EINTR, "poll refuses a descriptor of our own")
        continue
      }
      if requests[2].revents != 0 { throw .stopped }
      // Before reading: after the exit, all output is in the pipe.
      let isOver = requests[1].revents != 0
      while true {
        let count = unsafe Glibc.read(output, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        // The program has closed its output; its exit is still to come.
        if count == 0 { requests[0].fd = -1 }
        if count <= 0 { break }
        bytes += chunk[..<count]
        guard bytes.count <= limitBytes else { throw .outputTooLong }
      }
      if isOver { return bytes }
    }
  }
}
