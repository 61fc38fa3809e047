import Glibc
import Logging
import Platform
import Subprocess
import Wire

/// The program of an `exec` bot: one long-running process that reads a JSON line per message and
/// writes JSON lines.
///
/// Its resource usage is bounded: the queue of messages, and the length and rate of its lines. If
/// it exits, or does not read its input for `patience`, it is restarted with a growing delay.
/// Messages that it had read, or that were dropped from the queue, are not repeated.
actor Program {
  /// The maximum number of queued messages; the oldest are dropped.
  static let queueLimit = 256
  static let queueLimitBytes = 1 << 20
  static let lineLimitBytes = 1 << 16
  /// The sustained rate of its lines per second, and the burst.
  static let linesPerSecond = 20
  static let lineBurst = 100
  /// A message from another room is passed on once the program has been silent for this long, so
  /// that lines without a room are sent where they belong. A program that names rooms never waits.
  static let quietPeriod = Duration.milliseconds(200)
  /// How long it may leave its input unread.
  static let patience = Duration.seconds(10)
  static let restartDelays = Duration.milliseconds(500) ... .seconds(60)
  /// A process that ran for this long resets the restart delay.
  static let steadyRun = Duration.seconds(60)

  private let command: [String]
  private let time: Timeline
  private let log: Logger
  private var queue: [(given: Given, line: [UInt8])] = []
  private var queuedBytes = 0
  private var whenQueued: CheckedContinuation<Void, Never>?
  /// The last message that was passed to the program.
  private var given: Given?
  /// The time of that, or of the last line if it is later.
  private var lastExchange = Duration.zero
  private var namesRooms = false
  private var bucket: TokenBucket
  private var attempt = 0

  init(_ command: [String], time: Timeline, log: Logger) {
    self.command = command
    self.time = time
    self.log = log
    bucket = TokenBucket(perSecond: Self.linesPerSecond, burst: Self.lineBurst, now: time.now)
  }

  /// Queues a message for the program.
  func offer(_ entry: Entry) {
    var line: [UInt8] = []
    entry.append(to: &line)
    // In valid JSON a raw line break can only be whitespace between tokens.
    for index in line.indices where line[index] == 0x0A || line[index] == 0x0D {
      line[index] = 0x20
    }
    line.append(0x0A)
    queue.append((Given(room: entry.room, seq: entry.seq), line))
    queuedBytes += line.count
    while queue.count > Self.queueLimit || queuedBytes > Self.queueLimitBytes && queue.count > 1 {
      queuedBytes -= queue.removeFirst().line.count
      log.debug("The program of a bot does not keep up: a message for it was dropped.")
    }
    wake()
  }

  /// Keeps the program running until the task is cancelled.
  func run(_ deliver: @escaping @Sendable (Line) async -> Void) async {
    // Writing to a program that has closed its input must not end this process.
    _ = signal(SIGPIPE, SIG_IGN)
    while !Task.isCancelled {
      let start = time.now
      let ending = await runOnce(deliver)
      if Task.isCancelled { return }
      if time.now - start >= Self.steadyRun { attempt = 0 }
      let delay = min(
        Self.restartDelays.upperBound, Self.restartDelays.lowerBound * (1 << min(attempt, 7)))
      attempt += 1
      log.warning(
        "The program of a bot has ended, and is started again.",
        metadata: ["after": "\(delay)", "reason": "\(ending)"])
      guard (try? await time.sleep(delay)) != nil else { return }
    }
  }

  /// - Returns: why it ended, as the rest of a sentence.
  private func runOnce(_ deliver: @escaping @Sendable (Line) async -> Void) async -> String {
    // Looked up as in a shell: by PATH, or as a path.
    var options = PlatformOptions()
    options.processGroupID = 0
    options.teardownSequence = Self.teardown
    do {
      let result = try await Subprocess.run(
        .name("sh"), arguments: Arguments(["-c", "exec \"$0\" \"$@\""] + command),
        platformOptions: options, input: .inputWriter, output: .sequence, error: .sequence
      ) { execution in
        let ending = await withTaskGroup(of: String?.self) { group in
          group.addTask { await self.write(to: execution.standardInputWriter) }
          group.addTask { await self.read(execution.standardOutput, deliver) }
          group.addTask {
            // A closed standard error is not a reason to end the program.
            await self.readErrors(execution.standardError)
            return nil
          }
          defer { group.cancelAll() }
          for await ending in group { if let ending { return ending } }
          return "it was stopped"
        }
        await execution.teardown(using: Self.teardown)
        return ending
      }
      return "\(result.closureResult) (\(result.terminationStatus))"
    } catch {
      return "it could not be started: \(error)"
    }
  }

  /// Gives the program and its children a second to exit.
  private static let teardown: [TeardownStep] = [
    .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
  ]

  private func write(to input: StandardInputWriter) async -> String {
    while let line = await nextLine() {
      let time = time
      let failure = await withTaskGroup(of: String?.self) { group in
        group.addTask {
          do {
            let written = try await input.write(line)
            return written == line.count ? nil : "it ended"
          } catch {
            return "it closed its input"
          }
        }
        group.addTask {
          try? await time.sleep(Self.patience)
          return "it does not read its input"
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
      }
      if let failure { return failure }
    }
    return "it was stopped"
  }

  private func nextLine() async -> [UInt8]? {
    while queue.isEmpty, !Task.isCancelled {
      await withTaskCancellationHandler {
        await withCheckedContinuation { whenQueued = $0 }
      } onCancel: {
        Task { await self.wake() }
      }
    }
    guard !Task.isCancelled else { return nil }
    while let given, let next = queue.first, next.given.room != given.room, !namesRooms {
      let rest = lastExchange + Self.quietPeriod - time.now
      guard rest > .zero else { break }
      guard (try? await time.sleep(rest)) != nil else { return nil }
    }
    let next = queue.removeFirst()
    queuedBytes -= next.line.count
    given = next.given
    lastExchange = time.now
    return next.line
  }

  /// Records a line of output.
  private func take(_ json: [UInt8]) -> Line {
    let line = Line(json, given: given)
    lastExchange = time.now
    namesRooms = line.namesRoom
    return line
  }

  private func wake() {
    whenQueued?.resume()
    whenQueued = nil
  }

  private func read(
    _ output: SubprocessOutputSequence, _ deliver: @escaping @Sendable (Line) async -> Void
  ) async -> String {
    var lines = LineSplitter(limitBytes: Self.lineLimitBytes)
    do {
      for try await buffer in output {
        lines.append(buffer.bytes)
        while let line = lines.next() {
          guard case .bytes(let json) = line, !json.isEmpty else { continue }
          // Beyond its rate the program blocks on its pipe, as it would on a terminal.
          try await time.sleep(bucket.take(now: time.now))
          await deliver(take(json))
        }
        if Task.isCancelled { break }
      }
    } catch {
      return "its output could not be read: \(error)"
    }
    return "it closed its output"
  }

  /// Logs the program's standard error; drops lines beyond the rate.
  private func readErrors(_ output: SubprocessOutputSequence) async {
    var lines = LineSplitter(limitBytes: Self.lineLimitBytes)
    var quota = LogQuota(now: time.now)
    do {
      for try await buffer in output {
        lines.append(buffer.bytes)
        while let line = lines.next() {
          guard case .bytes(let line) = line, !line.isEmpty, quota.admits(now: time.now) else {
            continue
          }
          let text = String(decoding: line, as: UTF8.self)
          log.info(
            "The program of a bot wrote to its standard error.", metadata: ["line": "\(text)"])
        }
      }
    } catch {
      log.debug(
        "The standard error of a bot's program could not be read.",
        metadata: ["error": "\(error)"])
    }
  }
}
