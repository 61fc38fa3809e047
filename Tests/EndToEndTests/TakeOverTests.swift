import Glibc
import Platform
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `Taking over, serve --take-over` {
    @Test func `the new process serves the same port and the same entries, and the old one ends`()
      throws
    {
      let relay = try RelayProcess("loops: 2")
      let ada = try RawClient(relay, user: "ada")
      try ada.say("one", in: "general", id: "1")
      let (old, port) = (relay.process, relay.port)
      try relay.takeOver()
      #expect(relay.port == port)
      #expect(try old.wait() == .exit(0))
      let end = try ada.untilClosed()
      #expect(end.code == 1012)
      #expect(end.messages.last.map { if case .closing = $0 { true } else { false } } == true)
      let bo = try RawClient(relay, user: "bo")
      #expect(try bo.say("two", in: "general", id: "2").seq == 2)
      #expect(try bo.everything(in: "general").map(\.id) == ["1", "2"])
      // Again, from the one that has taken over.
      let second = relay.process
      try relay.takeOver()
      #expect(try second.wait() == .exit(0))
      #expect(try RawClient(relay, user: "bo").say("three", in: "general", id: "3").seq == 3)
      #expect(try relay.stop() == .exit(0))
    }

    @Test
    func `under load nothing that was acknowledged is lost, and none is refused a connection`()
      throws
    {
      let relay = try RelayProcess("loops: 2\n\(RelayProcess.withoutLimits)")
      let sender = Sender(relay, user: "ada")
      try sender.send(untilAcknowledged: 200)
      for round in 1...3 {
        try relay.takeOver(waiting: false)
        let deadline = Deadline()
        while !relay.process.errors.contains("listening on "), !deadline.hasPassed {
          try sender.send(untilAcknowledged: sender.acknowledged.count + 1)
        }
        try relay.waitUntilListening()
        try sender.send(untilAcknowledged: sender.acknowledged.count + 200)
        #expect(sender.refusedConnections == 0, "round \(round)")
      }
      let entries = try RawClient(relay, user: "bo").everything(in: "general")
      let stored = Dictionary(entries.map { ($0.id, $0.seq) }) { first, _ in
        Issue.record("an id is stored twice")
        return first
      }
      #expect(entries.map(\.seq) == Array(1...Int64(entries.count)))
      #expect(sender.acknowledged.allSatisfy { stored[$0.key] == $0.value })
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `commands of operators are carried out by the process that has taken over`() throws {
      let relay = try RelayProcess()
      let old = relay.process
      try relay.takeOver()
      #expect(try old.wait() == .exit(0))
      let ban = try RelayProcess.command("ban", "eve", "--data", relay.dataFolder)
      #expect(try ban.wait() == .exit(0), "\(ban.errors)")
      #expect(throws: (any Error).self) {
        try RawClient(relay, user: "eve").history("general")
      }
    }

    @Test func `a process that cannot serve leaves the running relay as it is`() throws {
      let relay = try RelayProcess("loops: 2")
      let ada = try RawClient(relay, user: "ada")
      try ada.say("one", in: "general", id: "1")
      func refusal(_ configuration: String) throws -> (ChildProcess.Outcome, String) {
        try relay.folder.write(configuration, to: "other.yaml")
        let other = try RelayProcess.command(
          "serve", "--take-over", "--config", relay.folder["other.yaml"])
        return (try other.wait(), other.errors)
      }
      let base = "listen: 127.0.0.1:0\ndata: \(relay.dataFolder)\n"
      var (outcome, errors) = try refusal(base + "unknown: 1\n")
      #expect(outcome == .exit(1))
      (outcome, errors) = try refusal(base + "tls: { certificate: no.pem, key: no.pem }\n")
      #expect(outcome == .exit(1), "\(errors)")
      (outcome, errors) = try refusal(base + "loops: 1\n")
      #expect(outcome == .exit(1))
      #expect(errors.contains("has 2 sockets, one for each loop"))
      (outcome, errors) = try refusal(base + "log: { durability: memory }\n")
      #expect(outcome == .exit(1))
      #expect(errors.contains("all entries would be lost"))
      // The connection has noticed nothing.
      #expect(try ada.say("two", in: "general", id: "2").seq == 2)
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `a process that is killed after it got the store: the old one serves again`() throws
    {
      let relay = try RelayProcess("loops: 2")
      let ada = try RawClient(relay, user: "ada")
      try ada.say("one", in: "general", id: "1")
      let channel = try ProcessChannel.connect(
        forFolder: relay.dataFolder, name: "relay-take-over")
      try channel.send("take-over 1 \(getpid())")
      let received = channel.receive(timeoutMilliseconds: 10_000)
      let sockets = try #require(received)
      for descriptor in sockets.descriptors { close(descriptor) }
      #expect(sockets.descriptors.count == 3)
      try channel.send("release")
      let released = channel.receive(timeoutMilliseconds: 60_000)
      #expect(released?.text == "released")
      #expect(try ada.untilClosed().code == 1012)
      // It waits in the socket, which nothing serves at this moment.
      let waiting = try Socket.connect(to: Address("127.0.0.1:\(relay.port)"))
      #expect(becomes(POLLOUT, waiting.descriptor))
      try waiting.finishConnecting()
      _ = waiting.send(Array("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8).span)
      _ = consume channel
      #expect(becomes(POLLIN, waiting.descriptor))
      #expect(waiting.borrowed.readAll().starts(with: Array("HTTP/1.1 200".utf8)))
      try relay.process.waitForErrors { $0.ranges(of: "listening on ws").count == 2 }
      #expect(relay.process.errors.contains("has ended before it served. The relay goes on"))
      let bo = try RawClient(relay, user: "bo")
      #expect(try bo.say("two", in: "general", id: "2").seq == 2)
      let ban = try RelayProcess.command("ban", "eve", "--data", relay.dataFolder)
      #expect(try ban.wait() == .exit(0), "\(ban.errors)")
      try relay.takeOver()
      #expect(try RawClient(relay, user: "bo").say("three", in: "general", id: "3").seq == 3)
    }

    @Test(arguments: 0..<6)
    func `wherever either is killed, nothing that was acknowledged is lost`(_ number: Int) throws {
      let relay = try RelayProcess("loops: 2\n\(RelayProcess.withoutLimits)")
      let sender = Sender(relay, user: "ada")
      try sender.send(untilAcknowledged: 100)
      let old = relay.process
      try relay.takeOver(waiting: false)
      // At another moment each time, while both run.
      usleep(UInt32(number) * 40_000)
      let (victim, survivor) = number % 2 == 0 ? (old, relay.process) : (relay.process, old)
      victim.signal(SIGKILL)
      try victim.wait()
      // It may have been about to end.
      try sender.send(untilAcknowledged: sender.acknowledged.count + 100) { survivor.isRunning }
      survivor.signal(SIGTERM)
      try survivor.wait()
      let verify = try RelayProcess.command("verify", "--data", relay.dataFolder)
      #expect(try verify.wait() == .exit(0), "\(verify.errors)")
      try relay.start()
      let entries = try RawClient(relay, user: "bo").everything(in: "general")
      let stored = Dictionary(entries.map { ($0.id, $0.seq) }) { first, _ in first }
      #expect(stored.count == entries.count)
      #expect(sender.acknowledged.allSatisfy { stored[$0.key] == $0.value })
    }

    @Test func `a stop while another process prepares ends both ways`() throws {
      let relay = try RelayProcess()
      let channel = try ProcessChannel.connect(
        forFolder: relay.dataFolder, name: "relay-take-over")
      try channel.send("take-over 1 \(getpid())")
      let received = channel.receive(timeoutMilliseconds: 10_000)
      let sockets = try #require(received)
      for descriptor in sockets.descriptors { close(descriptor) }
      #expect(try relay.stop() == .exit(0))
      let end = channel.receive(timeoutMilliseconds: 10_000)
      #expect(end == nil)
    }

    @Test func `without a running relay it starts as usual`() throws {
      let relay = try RelayProcess()
      #expect(try relay.stop() == .exit(0))
      try relay.takeOver()
      #expect(try RawClient(relay, user: "ada").say("one", in: "general", id: "1").seq == 1)
    }
  }
}

/// A client that sends texts, and comes back as it is told; it sends again what was not acknowledged.
private final class Sender {
  private let relay: RelayProcess
  private let user: String
  private var client: RawClient?
  private var number = 0
  /// The `seq` of each acknowledged id.
  private(set) var acknowledged: [String: Int64] = [:]
  private(set) var refusedConnections = 0

  init(_ relay: RelayProcess, user: String) {
    self.relay = relay
    self.user = user
  }

  func send(untilAcknowledged count: Int, while condition: () -> Bool = { true }) throws {
    let deadline = Deadline()
    while acknowledged.count < count, condition() {
      if deadline.hasPassed { throw Unexpected("\(acknowledged.count) of \(count) acks") }
      do {
        let client = try client ?? connect()
        self.client = client
        let id = "\(number)"
        let ack = try client.say("text \(id)", in: "general", id: id)
        acknowledged[id] = ack.seq
        number += 1
      } catch {
        client = nil
        usleep(1000)
      }
    }
  }

  private func connect() throws -> RawClient {
    do {
      return try RawClient(relay, user: user)
    } catch let error as SystemError {
      if error.code == ECONNREFUSED { refusedConnections += 1 }
      throw error
    }
  }
}
