import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `Shutting down, SIGTERM` {
    @Test func `every client is told when to reconnect, then closed with 1012`() throws {
      let relay = try RelayProcess("loops: 2")
      let clients = try (0..<8).map { number in
        let client = try RawClient(relay, user: "u\(number)")
        _ = try client.join("general")
        return client
      }
      relay.process.signal(SIGTERM)
      for client in clients {
        let end = try client.untilClosed()
        #expect(end.code == 1012)
        guard case .closing(let reason, let milliseconds)? = end.messages.last else {
          Issue.record("\(end.messages)")
          continue
        }
        #expect(!reason.isEmpty)
        #expect(0...60_000 ~= milliseconds)
        client.hangUp()
      }
      #expect(try relay.process.wait() == .exit(0))
    }

    @Test func `under load nothing that was acknowledged is lost, and nothing is doubled`() throws {
      // Slow enough that something is always under way.
      let relay = try RelayProcess(
        RelayProcess.withoutLimits + "\ndebug: { commit_delay_ms: 5 }")
      let ada = try RawClient(relay, user: "ada")
      var sent = 0
      func say() {
        sent += 1
        ada.enqueue(#"{"type":"send","room":"general","id":"\#(sent)","text":"n \#(sent)"}"#)
        // Messages that the relay no longer accepts stay here.
        _ = try? ada.flushAvailable()
      }
      for _ in 1...200 { say() }
      var acknowledged: [String: Int64] = [:]
      var refused: Set<String> = []
      var isSignalled = false
      var hasAnnounced = false
      var code: UInt16 = 0
      while code == 0 {
        switch try ada.next() {
        case .closed(let number, _): code = number
        case .end: throw Unexpected("no close, after \(acknowledged.count) acks")
        case .message(let json):
          switch try ServerMessage(decoding: json.span) {
          case .ack(let ack):
            acknowledged[ack.id] = ack.seq
            say()
          case .error(let error):
            // Those after the first are held back, so that their order can be kept.
            #expect(error.code == .unavailable)
            if let id = error.id { refused.insert(id) }
          case .closing: hasAnnounced = true
          default: break
          }
        }
        if acknowledged.count > 1000, !isSignalled {
          isSignalled = true
          relay.process.signal(SIGTERM)
        }
      }
      ada.hangUp()
      #expect(code == 1012)
      #expect(hasAnnounced)
      #expect(refused.isDisjoint(with: acknowledged.keys))
      #expect(try relay.process.wait() == .exit(0))

      try relay.start()
      let bo = try RawClient(relay, user: "bo")
      let entries = try bo.everything(in: "general")
      #expect(entries.map(\.seq) == Array(1...Int64(max(1, entries.count))))
      #expect(Set(entries.map(\.id)).count == entries.count)
      // Exactly the accepted lines were acknowledged before the end.
      #expect(Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.seq) }) == acknowledged)
      // In the order in which they were sent.
      #expect(entries.compactMap { Int($0.id) } == Array(1...max(1, entries.count)))
      print("SIGTERM under load: \(acknowledged.count) acknowledged, \(refused.count) refused")
    }

    @Test func `a reader that does not read is not waited for, nor are bots`() throws {
      let relay = try RelayProcess(
        """
        drain_s: 20
        limits: { sends_per_s: 0, bytes_per_s: 0, burst: 0, requests_per_s: 0 }
        bots:
          - { user: echo, behaviour: echo, reply_delay_s: [5, 6], rooms: [general] }
          - { user: clock, behaviour: every, interval_s: 0.1, rooms: [general], lines: [tick] }
          - { user: cat, behaviour: exec, command: [cat], rooms: [general] }
        """)
      let reader = try RawClient(relay, user: "bo")
      _ = try reader.join("general")
      let writer = try RawClient(relay, user: "ada")
      let text = String(repeating: "0123456789", count: 800)
      // More than the socket's buffers on loopback, which grow to several megabytes.
      for number in 1...2500 { try writer.say(text, in: "general", id: "\(number)") }
      let begin = ContinuousClock.now
      #expect(try relay.stop() == .exit(0))
      // To wait would have taken all of drain_s.
      #expect(begin.duration(to: .now) < .seconds(20))
      try relay.start()
      #expect(try RawClient(relay, user: "ada").history("general").head >= 2500)
    }

    @Test func `SIGINT ends it as well`() throws {
      let relay = try RelayProcess()
      relay.process.signal(SIGINT)
      #expect(try relay.process.wait() == .exit(0))
    }
  }
}
