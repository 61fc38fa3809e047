import Mixing
import Relay
import TestSupport
import Testing
import Wire

@testable import SQLiteLog

/// The stores that released versions have made, in `Tests/Stores`: `make release` adds one of each version.
@Suite struct `The store of a released version` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The versions that have one.
  static let versions = ((try? run("ls", Project["Tests/Stores"])) ?? "")
    .split(separator: "\n").map(String.init).filter { $0.first?.isNumber == true }

  @Test func `is kept of the first one`() { #expect(Self.versions.first == "0.1.0") }

  private func unpack(_ name: String, of version: String, to path: String) throws {
    try run("sh", "-c", "gzip -dc '\(Project["Tests/Stores/\(version)/\(name).gz"])' >'\(path)'")
  }

  @Test(arguments: versions)
  func `is opened, and has what that version has exported`(_ version: String) async throws {
    let data = folder["data"]
    try run("mkdir", "-m", "700", data)
    for name in ["relay.db", "accounts.db"] {
      try unpack(name, of: version, to: "\(data)/\(name)")
    }
    try unpack("export.jsonl", of: version, to: folder["expected"])
    let migrated = try Store.migrate(folder: data)
    #expect(migrated.to == Schema.steps.count)
    let verification = try Store.verify(folder: data)
    #expect(verification.breaks == [])
    let command = try ChildProcess(
      [Programs.path(of: "relay"), "export", "--data", data], input: "")
    #expect(try command.wait() == .exit(0), "\(command.errors)")
    let expected = try readFile(folder["expected"]).split(separator: "\n")
    let found = command.output.split(separator: "\n")
    #expect(found == expected)
    // It can be written, and knows the ids of that version.
    let log = try SQLiteLog(folder: data)
    let answers = await (try LogHarness(log)).submit([
      .append("room-0", "u0", "0", text: "text 0"), .append("room-0", "u0", "new"),
    ])
    #expect(answers.acks.map(\.duplicate) == [true, false])
    log.stop()
  }

  /// A released step of the schema never changes: its text has this hash.
  private static let releasedSteps = [
    "5a7d37478652bd07", "61583027b764070d", "48bf5c4a383789f9", "de2818542aa4fca0",
    "f793b8bbb538559", "6d1a5812afa60fee", "b912e15cd52ef3ce", "54a1b1c060b66718",
    "d4ca5fc1d1a0f30d", "409ffa47135f325a",
  ]

  @Test func `has gone through steps of the schema that are as they were released`() {
    let hashes = Schema.steps.map { String(FNV1a.hash($0), radix: 16) }
    #expect(Array(hashes.prefix(Self.releasedSteps.count)) == Self.releasedSteps)
  }
}
