import Glibc
import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

@Suite struct `A checkpoint whose sync fails` {
  @Test(arguments: ["relay.db", "index.db"])
  func `ends the process with a message, and loses nothing`(file: String) async throws {
    let folder = try TemporaryFolder()
    let data = folder["data"]
    // A new file is synced before a log exists that it could be written from again.
    try SQLiteLog(folder: data).stop()

    let exit = await #expect(
      processExitsWith: .exitCode(4), observing: [\.standardErrorContent]
    ) { [file, data = data as String] in
      failSyncs(ofFile: file)
      let log = try SQLiteLog(
        folder: data, segmentEntries: 500, report: { say($0) })
      let harness = try LogHarness(log)
      // The process ends when the first 4 MiB are moved.
      for id in 1..<100_000 {
        let text = String(repeating: "x", count: 3000)
        let delivery = await harness.submit([.append("general", "ada", "\(id)", text: text)])
        for ack in delivery.acks { say("\(ack.seq) is acknowledged") }
      }
    }

    let said = String(decoding: exit?.standardErrorContent ?? [], as: UTF8.self)
      .split(separator: "\n")
    #expect(said.contains { $0.hasPrefix("\(data)/\(file) could not be synced: ") })
    let acknowledged = said.count { $0.hasSuffix("is acknowledged") }
    #expect(acknowledged > 100)
    let log = try SQLiteLog(folder: data)
    #expect(
      try await LogHarness(log).subscribe("general", as: "bo", after: 0)?.head ?? 0 >= acknowledged)
    log.stop()
    #expect(try Store.verify(folder: data).breaks.isEmpty)
  }
}

/// Writes a line to standard error.
private func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
}
