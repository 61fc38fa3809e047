import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Backups as docs/operations.md describes them.
  @Suite struct `A restored backup` {
    enum Way: CaseIterable, Sendable {
      case copyOfStopped
      case backupOfRunning
    }

    @Test(arguments: Way.allCases)
    func `from before the last start costs clients only what it does not have`(way: Way) throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      for number in 1...3 {
        try RawClient(relay, user: "bo").say("kept \(number)", in: "general", id: "k\(number)")
      }
      let place = relay.folder["backup"]
      if way == .backupOfRunning {
        let backup = try RelayProcess.command("backup", "--data", relay.dataFolder, "--to", place)
        #expect(try backup.wait() == .exit(0), "\(backup.errors)")
      }
      #expect(try relay.stop() == .exit(0))
      if way == .copyOfStopped { try run("cp", "-a", relay.dataFolder, place) }
      try relay.start()
      for number in 1...2 {
        try RawClient(relay, user: "bo").say("lost \(number)", in: "general", id: "l\(number)")
      }
      let before = try join(relay, after: 0)
      #expect(before.head == 5)
      #expect(before.lineage.map(\.after) == [3, 0])
      #expect(try relay.stop() == .exit(0))

      try run("rm", "-r", relay.dataFolder)
      switch way {
      case .copyOfStopped: try run("mv", place, relay.dataFolder)
      case .backupOfRunning:
        let restore = try RelayProcess.command(
          "restore", "--from", place, "--data", relay.dataFolder)
        #expect(try restore.wait() == .exit(0), "\(restore.errors)")
      }
      let verify = try RelayProcess.command("verify", "--data", relay.dataFolder)
      #expect(try verify.wait() == .exit(0), "\(verify.output)\(verify.errors)")
      try relay.start()
      try RawClient(relay, user: "bo").say("new", in: "general", id: "n")

      let joined = try join(relay, after: 5, lineage: before.lineage)
      #expect(joined.resume == .diverged)
      #expect(joined.after == 3)
      #expect(joined.lineage.map(\.after) == [3, 0])
      #expect(joined.lineage.last == before.lineage.last)
      // One that names only its epoch has to drop everything.
      #expect(try join(relay, after: 5, epoch: before.epoch).resume == .reset)

      let page = try history(relay, "after=5&lineage=\(before.lineage.query)")
      #expect(page.epoch == joined.epoch)
      #expect(page.resume == .diverged)
      #expect(page.after == 3)
      #expect(page.entries.map(\.id) == ["n"])
      let lost = try history(relay, "after=5&epoch=\(before.epoch)")
      #expect(lost.resume == .reset)
      #expect(lost.entries.map(\.id) == ["k1", "k2", "k3", "n"])
      #expect(try relay.stop() == .exit(0))
    }

    private func join(
      _ relay: RelayProcess, after: Int64, epoch: String? = nil, lineage: [EpochStart]? = nil
    ) throws -> ServerMessage.Joined {
      let client = try RawClient(relay, user: "ada")
      try client.send(
        .join(.init(room: "general", after: after, epoch: epoch, lineage: lineage)))
      return try client.first { if case .joined(let joined) = $0 { joined } else { nil } }
    }

    private func history(
      _ relay: RelayProcess, _ query: String
    ) throws -> ServerMessage.HistoryPage {
      let answer = try HTTPExchange(
        relay,
        "GET /v1/rooms/general/messages?user=ada&\(query) HTTP/1.1\r\nHost: localhost\r\n"
          + "Connection: close\r\n\r\n"
      ).answer()
      let start = try #require(answer.firstRange(of: "\r\n\r\n")).upperBound
      let json = Array(answer[start...].utf8)
      guard case .history(let page) = try ServerMessage(decoding: json.span) else {
        throw Unexpected(answer)
      }
      return page
    }
  }
}
