import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

/// The search for what is left of erased entries, in files as a store leaves them.
@Suite struct `Pieces of erased entries` {
  private typealias Send = ClientMessage.Send

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func samples(of user: String) throws -> ContentSamples {
    let samples = ContentSamples()
    try Store.person(user, folder: folder["data"], samples: samples) { _ in }
    return samples
  }

  private func found(_ samples: ContentSamples) throws -> [String] {
    let result = try samples.search(folder: folder["data"])
    #expect(result.files >= 3)
    #expect(result.bytes > 1000)
    return result.findings.map { String($0.path.dropFirst(folder["data"].count + 1)) }
  }

  @Test(arguments: [
    "hi", "a longer text, of which a piece is enough",
    String(repeating: "0123456789 ", count: 4000),
  ])
  func
    `a deleted text is found where the write-ahead log still has it, and nowhere after a restart`(
      _ text: String
    ) throws
  {
    var harness: StoreHarness? = try StoreHarness(folder["data"])
    _ = harness?.submit([
      .append("r", "bo", "1", text: text), .append("r", "ada", "2", text: "other"),
    ])
    let samples = try samples(of: "bo")
    #expect(try found(samples) == [], "a text that is kept is none")
    _ = harness?.submit([.append(Send(room: "r", id: "d", delete: 1), from: "bo")])
    let left = try samples.search(folder: folder["data"]).findings
    #expect(!left.isEmpty)
    for finding in left {
      #expect(finding.path == folder["data/relay.db-wal"])
      let bytes = try readBytes(finding.path)[finding.offset..<finding.offset + 24]
      let piece = String(decoding: bytes, as: UTF8.self)
      #expect("\"text\":\"\(text)\"".contains(piece) || piece.hasSuffix("\"text\":\"\(text)\""))
    }
    harness = nil
    harness = try StoreHarness(folder["data"])
    #expect(try found(samples) == [])
    withExtendedLifetime(harness) {}
  }

  @Test func `a long text leaves a finding by any of its pages`() throws {
    let text = (0..<6000).map { "\($0) " }.joined()
    do {
      let harness = try StoreHarness(folder["data"])
      _ = harness.submit([.append("r", "bo", "1", text: text)])
      withExtendedLifetime(harness) {}
    }
    let samples = try samples(of: "bo")
    do {
      let harness = try StoreHarness(folder["data"])
      _ = harness.submit([.append(Send(room: "r", id: "d", delete: 1), from: "bo")])
      withExtendedLifetime(harness) {}
    }
    _ = try StoreHarness(folder["data"])
    #expect(try found(samples) == [])
    // As a page of a copy of the file would have it.
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count - 4096, by: 4096) {
      try folder.write(
        String(decoding: bytes[start..<start + 4096], as: UTF8.self), to: "data/page")
      #expect(try Set(found(samples)) == ["page"])
    }
  }

  @Test func `what others have said as well is no finding`() throws {
    let text = "the same words from both of them"
    let harness = try StoreHarness(folder["data"])
    _ = harness.submit([.append("r", "bo", "1", text: text), .append("r", "ada", "2", text: text)])
    let samples = try samples(of: "bo")
    _ = harness.submit([.append(Send(room: "r", id: "d", delete: 1), from: "bo")])
    #expect(try found(samples) == [])
    withExtendedLifetime(harness) {}
  }
}
