import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `A full disk` {
    @Test(.enabled(if: SmallDisk.isPossible, "mounting a file system of its own takes root"))
    func `sends are refused, everything else works, and writing resumes by itself`() throws {
      let disk = try SmallDisk(kibibytes: 4096)
      // So that there is something to free.
      try disk.folder.write(String(repeating: "ballast\n", count: 1 << 17), to: "ballast")
      let relay = try RelayProcess(
        RelayProcess.withoutLimits, data: disk.folder["data"])
      var ada = try RawClient(relay, user: "ada")
      let text = String(repeating: "0123456789", count: 800)
      var acknowledged: [String: Int64] = [:]
      var number = 0

      /// Sends one line, and says whether it was stored.
      func say(_ id: String) throws -> Bool {
        try ada.send(.send(.init(room: "general", id: id, text: text)))
        return try ada.first { message in
          switch message {
          case .ack(let ack) where ack.id == id:
            acknowledged[id] = ack.seq
            return true
          case .error(let error) where error.id == id:
            return error.code == .unavailable ? false : nil
          default: return nil
          }
        }
      }
      repeat { number += 1 } while try number < 2000 && say("\(number)")
      let refused = "\(number)"
      #expect(acknowledged.count == number - 1)
      #expect(number > 10)
      try ada.send(.send(.init(room: "full", id: "x", text: text)))
      let error = try ada.error()
      #expect(error.code == .unavailable)
      #expect(error.id == "x")
      #expect((error.retryAfterMilliseconds ?? 0) > 0)

      // Reading needs no space.
      let bo = try RawClient(relay, user: "bo")
      #expect(try bo.join("general", after: 0).head >= Int64(acknowledged.count))
      #expect(try bo.entry().seq == 1)
      #expect(try ada.history("general", limit: 5).entries.count == 5)

      // The same line, once there is space: the relay resumes by itself.
      try run("rm", disk.folder["ballast"])
      // A new connection, which was not asked to wait.
      ada = try RawClient(relay, user: "ada")
      #expect(try say(refused))
      try relay.process.waitForErrors { $0.contains("Writing works again") }
      #expect(try say("after"))
      let entries = try ada.everything(in: "general")
      #expect(entries.map(\.seq) == Array(1...Int64(entries.count)))
      #expect(Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.seq) }) == acknowledged)
      #expect(try relay.stop() == .exit(0))
      let verify = try RelayProcess.command("verify", "--data", disk.folder["data"])
      #expect(try verify.wait() == .exit(0), "\(verify.output)\(verify.errors)")
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a file system of its own takes root"))
    func `with less than log.min_free_bytes nothing is written, and the gauge has said so`() throws
    {
      let disk = try SmallDisk(kibibytes: 8192)
      try disk.folder.write(String(repeating: "ballast\n", count: 1 << 18), to: "ballast")
      let relay = try RelayProcess(
        "log: { min_free_bytes: 4194304 }\n\(RelayProcess.withoutLimits)",
        data: disk.folder["data"])
      func freeBytes() throws -> Int {
        let metric = "\nrelay_disk_free_bytes "
        let metrics = try relay.metrics()
        guard let start = metrics.firstRange(of: metric)?.upperBound,
          let bytes = Int(metrics[start...].prefix { $0.isNumber })
        else { throw Unexpected("no gauge in \(metrics)") }
        return bytes
      }
      #expect(try freeBytes() > 4_194_304)
      let ada = try RawClient(relay, user: "ada")
      let text = String(repeating: "0123456789", count: 800)
      var seq: Int64 = 0
      var refusal: WireError?
      while refusal == nil, seq < 1000 {
        try ada.send(.send(.init(room: "general", id: "\(seq + 1)", text: text)))
        refusal = try ada.first { message -> WireError?? in
          if case .error(let error) = message { return error }
          guard case .ack(let ack) = message else { return nil }
          seq = ack.seq
          return .some(nil)
        }
      }
      #expect(refusal?.code == .unavailable)
      #expect(seq > 10)
      #expect((3_145_728..<4_194_304).contains(try freeBytes()))
      try relay.process.waitForErrors { $0.contains("log.min_free_bytes is 4194304") }
      #expect(try ada.history("general", limit: 5).entries.count == 5)
      for arguments in [["ban", "bo"], ["erase", "--user", "ada"]] {
        let command = try ChildProcess(
          [Programs.relay] + arguments + ["--data", disk.folder["data"]], input: "")
        #expect(try command.wait() == .exit(1))
        #expect(
          command.errors.hasPrefix(
            "This was not done, because the relay cannot write its store. Its log says why"),
          "\(command.errors)")
        #expect(
          command.errors.contains("The erasure of ada is not complete") == (arguments[0] == "erase")
        )
      }
      try run("rm", disk.folder["ballast"])
      #expect(try RawClient(relay, user: "bo").say("again", in: "general", id: "1").seq == seq + 1)
      #expect(try relay.stop() == .exit(0))
    }

    @Test(
      .enabled(if: SmallDisk.isPossible, "mounting a file system of its own takes root"),
      arguments: [true, false])
    func `a relay that is started on it serves what is stored, however it ended`(
      isStopped: Bool
    ) throws {
      let disk = try SmallDisk(kibibytes: 4096)
      let relay = try RelayProcess(
        RelayProcess.withoutLimits, data: disk.folder["data"])
      try RawClient(relay, user: "ada").say("stored", in: "general", id: "1")
      // Each start leaves the next one enough.
      for _ in 1...3 {
        if isStopped { try relay.stop() } else { try relay.kill() }
        _ = try? run(
          "dd", "if=/dev/zero", "of=\(disk.folder["fill"])", "bs=4k", "oflag=append",
          "conv=notrunc", "status=none")
        try relay.start()
        let ada = try RawClient(relay, user: "ada")
        #expect(try ada.history("general", limit: 5).entries.count == 1)
        // The log of a killed relay is emptied, which leaves space for some entries.
        guard isStopped else { continue }
        #expect(relay.process.errors.contains("relay.db is full"))
        try ada.send(.send(.init(room: "general", id: "2", text: "refused")))
        #expect(try ada.error().code == .unavailable)
        let ready = try HTTPExchange(relay, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        #expect(try ready.answer().hasPrefix("HTTP/1.1 503 "))
      }
      try run("rm", disk.folder["fill"])
      if isStopped { try relay.process.waitForErrors { $0.contains("Writing fails") } }
      let ada = try RawClient(relay, user: "ada")
      #expect(try ada.say("again", in: "general", id: "2").seq == 2)
      #expect(try relay.stop() == .exit(0))
      let verify = try RelayProcess.command("verify", "--data", disk.folder["data"])
      #expect(try verify.wait() == .exit(0), "\(verify.output)\(verify.errors)")
    }
  }
}

/// A file system in memory with little space, for one test.
final class SmallDisk {
  /// Tried once: containers often forbid it, even to root.
  static let isPossible = (try? SmallDisk(kibibytes: 64)) != nil

  let folder: TemporaryFolder

  init(kibibytes: Int) throws {
    folder = try TemporaryFolder()
    try run("mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k", "tmpfs", folder.path)
  }

  deinit { _ = try? run("umount", "--lazy", folder.path) }
}
