import Relay
import RelayConfiguration
import TestSupport
import Testing

@testable import Wire

/// The relay behaves as the documentation of relay.v1 shows.
@Suite(.serialized) struct `The protocol as it is documented` {
  @Test func `the articles show examples`() { #expect(Transcript.all.count >= 15) }

  @Test(arguments: Transcript.all)
  func `an example is played as shown`(example: Transcript) throws {
    try TranscriptPlayer.play(example)
  }

  @Test func `every type of message is in the reference`() throws {
    let reference = try Article("Protocol")
    let ofOperators: [RequestName] = [.ban, .deleteRoom, .erase]
    let fromClients = RequestName.allCases.filter { $0 != .trace && !ofOperators.contains($0) }
      .map(\.rawValue)
    #expect(reference.lacks(ofOperators.map { "\n| `\($0.rawValue)` |" }) == [])
    let fromRelay = try Self.words(
      in: "ServerMessage+Encoding.swift", after: #""{\"type\":\""#)
    // The list cannot shrink unnoticed.
    #expect(Set(fromRelay).isSuperset(of: ["welcome", "joined", "closing"]))
    #expect(reference.lacks(fromClients.map { "\n### `\($0)` →\n" }) == [])
    // `message` objects are written by `Entry`.
    #expect(reference.lacks((fromRelay + ["message"]).map { "\n### `\($0)` ←\n" }) == [])
  }

  @Test func `every error code is explained`() throws {
    let reference = try Article("Protocol")
    #expect(reference.lacks(ErrorCode.sent.map { "\n| `\($0.rawValue)` |" }) == [])
  }

  @Test func `every close code is explained`() throws {
    let reference = try Article("Protocol")
    let codes = (1000...4999).compactMap(CloseReason.init)
    #expect(codes.count > 10)
    #expect(reference.lacks(codes.map { "\n| \($0.rawValue) |" }) == [])
  }

  @Test func `every case of resume is explained`() throws {
    let article = try Article("Resuming")
    #expect(article.lacks(ServerMessage.Resume.allCases.map { "\n| `\($0.rawValue)` |" }) == [])
  }

  @Test func `every field is named`() throws {
    let reference = try Article("Protocol")
    #expect(reference.lacks(JSONFields.Key.allCases.map { "`\($0.name)`" }) == [])
  }

  @Test func `the default limits are as documented`() throws {
    let reference = try Article("Protocol")
    let limits = Configuration().limits
    let (shard, budget) = (limits.shard, limits.shard.budget)
    let documented: [(key: String, value: Int)] = [
      ("frame_bytes", shard.frameBytes), ("text_bytes", shard.textBytes),
      ("edits_per_entry", limits.entry.editsPerEntry),
      ("reactions_per_entry", limits.entry.reactionsPerEntry),
      ("rooms_per_connection", shard.roomsPerConnection),
      ("rooms_per_user", limits.roomsPerUser),
      ("members_per_room", limits.entry.membersPerRoom),
      ("sends_per_s", budget.sendsPerSecond), ("burst", budget.burst),
      ("requests_per_s", budget.requestsPerSecond), ("bytes_per_s", budget.bytesPerSecond),
      ("file_bytes", limits.fileBytes), ("file_bytes_per_s", limits.fileBytesPerSecond),
      ("files_bytes_per_user", limits.filesBytesPerUser),
      ("uploads_per_user", limits.uploadsPerUser),
      ("connections_per_user", budget.connections), ("queue_bytes", shard.queueBytes),
      ("heartbeat_s", shard.heartbeatSeconds), ("idle_timeout_s", limits.idleTimeoutSeconds),
      ("handshake_timeout_ms", limits.handshakeTimeoutMilliseconds),
      ("header_bytes", limits.headerBytes), ("header_lines", limits.headerLines),
      ("message_fragments", limits.messageFragments),
      ("connections", limits.connections),
      ("connections_per_address", limits.connectionsPerAddress),
      ("unauthenticated_per_address", limits.unauthenticatedPerAddress),
      ("unauthenticated_per_s", limits.unauthenticatedPerSecond),
    ]
    #expect(reference.lacks(documented.map { "\n| `\($0.key)` | \($0.value) |" }) == [])
  }

  // MARK: - Sources

  /// The words after `prefix` in a source file of Wire.
  private static func words(in file: String, after prefix: String) throws -> [String] {
    try readFile(Project["\(Article.sources)/\(file)"]).split(separator: "\n").compactMap { line in
      line.firstRange(of: prefix).map { String(line[$0.upperBound...].prefix { $0.isLetter }) }
    }
  }
}
