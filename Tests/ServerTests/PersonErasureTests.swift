import AccountStores
import Accounts
import Relay
import RelayConfiguration
import SQLiteLog
import TestSupport
import Testing
import Wire

@testable import Server

/// The erasure of a person from a store whose relay does not run.
@Suite struct `Erasing a person without a relay` {
  private struct Killed: Error {}

  private let folder: TemporaryFolder
  private let configuration: Configuration
  private var place: StorePlace { StorePlace(configuration) }

  init() throws {
    folder = try TemporaryFolder()
    configuration = try Configuration.load(
      file: nil, environment: [:], overrides: .init(data: folder["data"]))
  }

  /// Fills the store with entries of `bo` and of `ada`, by turns.
  private func fill(_ count: Int) throws {
    var lines = (1...count).map { seq in
      let from = seq % 2 == 0 ? "ada" : "bo"
      return """
        {"type":"message","room":"tea","seq":\(seq),"id":"\(seq)","from":"\(from)","at":\(seq),"kind":"text",\
        "text":"<\(from) says \(seq)>","epoch":"e"}
        """
    }[...]
    _ = try place.import(report: { _ in }) { lines.popFirst().map { Array($0.utf8) } }
  }

  private func files(with word: String) throws -> [String] {
    try fileNames(in: folder["data"]).filter {
      try readBytes(folder["data/\($0)"]).firstRange(of: Array(word.utf8)) != nil
    }
  }

  /// Erases, and is interrupted after a number of batches.
  private func erase(batches limit: Int = .max) throws -> PersonErasure {
    let relay = try StoppedRelay(configuration) { Issue.record("\($0)") }
    defer { relay.stop() }
    var batches = 0
    var erasure = PersonErasure(of: "bo", in: place) { messages in
      if batches == limit { throw Killed() }
      batches += 1
      #expect(messages.count <= PersonErasure.requestsAtOnce)
      try relay.perform(messages)
    }
    try erasure.run()
    return erasure
  }

  @Test func `an erasure that was interrupted is continued, and leaves nothing in any file`() throws
  {
    try fill(1000)
    #expect(throws: Killed.self) { try erase(batches: 3) }
    #expect(!(try files(with: "<bo says 1>")).isEmpty)
    let erasure = try erase()
    // The ban and two batches were carried out before.
    #expect(
      erasure.report.lines == ["tea\t1 membership, \(500 - 2 * PersonErasure.requestsAtOnce) texts"]
    )
    #expect(erasure.sampleCount > 0)
    let result = try erasure.search(folder: folder["data"])
    #expect(result.findings.isEmpty)
    #expect(try files(with: "<bo says") == [])
    #expect(try files(with: "<ada says 1000>") != [])
    #expect(try place.verify().breaks == [])
    var lines = ""
    _ = try place.export(room: "tea") { lines += String(decoding: $0, as: UTF8.self) }
    #expect(
      lines.split(separator: "\n").count { $0.contains(#""from":"ada""#) && $0.contains("<ada") }
        == 500)
    #expect(
      lines.split(separator: "\n").count {
        $0.contains(#""from":"bo""#) && $0.contains(#""text":"""#)
      } == 500)
    #expect(try place.bans().map(\.user) == ["bo"])

    let again = try erase()
    #expect(again.report.lines == [])
    #expect(try place.bans().count == 1)
  }

  @Test func `an account goes with its devices, from the files as well`() throws {
    try fill(2)
    let accounts = try SQLAccountStore.sqlite(path: folder["data/accounts.db"])
    let account = Account(
      user: "bo", name: "Bo of the <secret>", isOperator: true, createdAt: 1)
    try accounts.put(account)
    let hash = try #require(SecretHash([UInt8](repeating: 7, count: 32)))
    try accounts.add(
      DeviceSession(
        id: "s1", hash: hash, user: "bo", device: "<secret> device", createdAt: 1, usedAt: 2,
        address: "192.0.2.7"))
    var lines = ""
    _ = try place.export(person: "bo") { lines += String(decoding: $0, as: UTF8.self) }
    #expect(lines.contains(#""name":"Bo of the <secret>""#))
    #expect(lines.contains(#"{"type":"session","user":"bo","device":"<secret> device","#))
    // The last operator stays, and nothing is done.
    #expect(throws: StoreError.self) { try erase() }
    #expect(try place.bans().isEmpty)

    try accounts.put(Account(user: "root", name: "Root", isOperator: true, createdAt: 1))
    #expect(
      try erase().report.lines == [
        "tea\t1 membership, 1 text", "account\t1 session, 0 invitations",
      ])
    #expect(try accounts.account("bo") == nil)
    #expect(try accounts.sessions(of: "bo").isEmpty)
    #expect(try files(with: "<secret>") == [])
  }

  @Test func `a name that the store does not know is an error, and is not banned`() throws {
    try fill(2)
    var erasure = PersonErasure(of: "bob", in: place) { _ in Issue.record("nothing is to be done") }
    #expect(throws: StorePlace.unknown("bob")) { try erasure.run() }
    #expect(throws: StorePlace.unknown("bob")) { try place.export(person: "bob") { _ in } }
  }
}
