import ArgumentParser
import Glibc
import SQLiteLog
import Server

/// `--data`, which the commands on a store have.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The folder that holds the log.", valueName: "dir"), completion: .directory)
  var data: String

  /// Runs `body` on the store, and ends as its failure demands.
  func use<Result>(_ body: (String) throws -> Result) throws -> Result {
    do {
      return try body(data)
    } catch let error as StoreError {
      StandardError.write("\(error)\n")
      throw error.kind == .broken ? ExitCode.brokenData : ExitCode.environment
    }
  }
}

/// Proves that a store is whole.
struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read the whole store and prove that nothing is missing or twice.",
    discussion: """
      May run beside a relay that has the store open: it then speaks of one moment. Exit code 3 \
      if the store is broken; each break is named.
      """)

  @OptionGroup var store: StoreOptions

  func run() throws {
    let verification = try store.use { try Store.verify(directory: $0) }
    for place in verification.breaks { print(place) }
    if verification.breakCount > verification.breaks.count {
      print("and \(verification.breakCount - verification.breaks.count) more")
    }
    print("\(verification.count.rooms) rooms, \(verification.count.entries) entries")
    if verification.breakCount > 0 { throw ExitCode.brokenData }
  }
}

/// Writes a store as JSON lines.
struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the entries as JSON lines, in the order in which they were stored.",
    discussion: "May run beside a relay that has the store open: it then speaks of one moment.")

  @OptionGroup var store: StoreOptions

  @Option(help: "Only this room.")
  var room: String?

  func run() throws {
    let output = LineStream(STDOUT_FILENO, "w")
    let room = room
    let count = try store.use {
      try Store.export(directory: $0, room: room) { output.write($0) }
    }
    guard output.flush() else {
      StandardError.write("Not everything could be written to standard output.\n")
      throw ExitCode.environment
    }
    StandardError.write("\(count.rooms) rooms, \(count.entries) entries\n")
  }
}

/// Reads JSON lines into a store.
struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read entries, as `relay export` writes them, from standard input.",
    discussion: """
      All of it is taken or nothing. Refused where a relay has the store open, or where the store \
      has such a room already.
      """)

  @OptionGroup var store: StoreOptions

  func run() throws {
    let input = LineStream(STDIN_FILENO, "r")
    let count = try store.use {
      try Store.import(directory: $0) { input.next() }
    }
    StandardError.write("\(count.rooms) rooms, \(count.entries) entries\n")
  }
}

/// A standard descriptor as lines, buffered by stdio(3).
@safe private final class LineStream {
  private let stream: UnsafeMutablePointer<FILE>?
  private var line: UnsafeMutablePointer<CChar>?
  private var capacity = 0
  private var hasFailed = false

  init(_ descriptor: Int32, _ mode: String) {
    unsafe stream = fdopen(dup(descriptor), mode)
  }

  deinit {
    if let stream = unsafe stream { unsafe fclose(stream) }
    unsafe free(line)
  }

  /// The next line without its end; `nil` behind the last.
  func next() -> [UInt8]? {
    guard let stream = unsafe stream else { return nil }
    let count = unsafe getline(&line, &capacity, stream)
    guard count > 0, let line = unsafe line else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: line, count: count)
    let isEnded = unsafe bytes[count - 1] == UInt8(ascii: "\n")
    return unsafe Array(isEnded ? bytes.dropLast() : bytes[...])
  }

  func write(_ bytes: [UInt8]) {
    guard let stream = unsafe stream else { return }
    let written = unsafe bytes.withUnsafeBufferPointer {
      unsafe fwrite($0.baseAddress, 1, $0.count, stream)
    }
    if written < bytes.count { hasFailed = true }
  }

  /// `false` where anything could not be written.
  func flush() -> Bool {
    guard let stream = unsafe stream else { return false }
    return unsafe fflush(stream) == 0 && !hasFailed
  }
}
