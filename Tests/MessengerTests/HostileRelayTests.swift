import Client
import Messenger
import Platform
import Terminal
import Testing
import Wire

/// A relay may send any number that JSON can write in any place, and the messenger continues.
@Suite struct `A relay that sends wrong numbers` {
  /// One of each message; `#` stands for a number.
  private static let messages = [
    #"{"type":"welcome","protocol":"relay.v1","user":"ada","session":"s","server":"r/1","time":#,"heartbeat_s":#,"expires":#,"expires_in_ms":#,"limits":{"frame_bytes":#,"text_bytes":#,"rooms":#,"sends_per_s":#,"burst":#,"requests_per_s":#,"bytes_per_s":#}}"#,
    #"{"type":"renewed","expires_in_ms":#}"#,
    #"{"type":"joined","room":"dm:ada:bo","epoch":"e","head":#,"first":#,"after":#,"resume":"ok","read":#,"received":#,"subscribers":#,"members":[{"user":"bo","read":#,"received":#}],"lineage":[{"epoch":"e","after":#}]}"#,
    #"{"type":"joined","room":"dm:ada:bo","epoch":"f","head":#,"first":#,"after":#,"resume":"truncated","read":#,"received":#}"#,
    #"{"type":"joined","room":"dm:ada:bo","epoch":"f","head":#,"first":#,"after":#,"resume":"diverged","read":#,"received":#}"#,
    #"{"type":"joined","room":"dm:ada:bo","epoch":"g","head":#,"first":#,"after":#,"resume":"reset","read":#,"received":#}"#,
    #"{"type":"message","room":"dm:ada:bo","seq":#,"id":"a","from":"bo","at":#,"kind":"text","text":"hi","reply_to":#,"edited_at":#,"forward":{"room":"general","seq":#}}"#,
    #"{"type":"message","room":"dm:ada:bo","seq":#,"id":"b","from":"bo","at":#,"kind":"edit","target":#,"text":"ho"}"#,
    #"{"type":"message","room":"dm:ada:bo","seq":#,"id":"c","from":"bo","at":#,"kind":"react","target":#,"emoji":"👍","on":true}"#,
    #"{"type":"message","room":"dm:ada:bo","seq":#,"id":"d","from":"bo","at":#,"kind":"delete","target":#}"#,
    #"{"type":"ack","room":"dm:ada:bo","id":"p-1","seq":#,"at":#}"#,
    #"{"type":"history","room":"dm:ada:bo","entries":[{"room":"dm:ada:bo","seq":#,"id":"h","from":"bo","at":#,"kind":"text","text":"x"}],"first":#,"head":#,"more":true,"after":#}"#,
    #"{"type":"receipt","room":"dm:ada:bo","user":"bo","received":#,"read":#}"#,
    #"{"type":"receipt","room":"dm:ada:bo","user":"ada","received":#,"read":#}"#,
    #"{"type":"subscribers","room":"dm:ada:bo","subscribers":#}"#,
    #"{"type":"rooms","rooms":[{"room":"dm:ada:bo","title":"bo","head":#,"read":#,"unread":#,"peer":"bo","last_seen":#,"last":{"room":"dm:ada:bo","seq":#,"id":"l","from":"bo","at":#,"kind":"text","text":"x"}}]}"#,
    #"{"type":"activity","room":"dm:ada:cy","head":#,"unread":#,"last":{"room":"dm:ada:cy","seq":#,"id":"l","from":"cy","at":#,"kind":"text","text":"x"}}"#,
    #"{"type":"people","people":[{"user":"bo","name":"Bo","presence":"away","last_seen":#,"room":"dm:ada:bo"}],"source":"local","as_of":#}"#,
    #"{"type":"presence","user":"bo","presence":"offline","last_seen":#}"#,
    #"{"type":"pong","t":#,"time":#}"#,
    #"{"type":"error","code":"unavailable","message":"no","re":"send","room":"dm:ada:bo","id":"p-1","retry_after_ms":#,"reset_at":#,"seq":#}"#,
    #"{"type":"error","code":"unavailable","message":"no","re":"join","room":"dm:ada:bo","retry_after_ms":#}"#,
    #"{"type":"error","code":"directory_limited","message":"no","re":"people","retry_after_ms":#,"reset_at":#}"#,
    #"{"type":"error","code":"rate_limited","message":"no","re":"people","retry_after_ms":#}"#,
    #"{"type":"closing","reason":"restart","reconnect_after_ms":#}"#,
  ]

  private static let numbers = [
    "0", "1", "9007199254740991", "9007199254740992", "9223372036854775807",
    "9223372036854775808", "-1", "-9223372036854775808", "1e308", "-1e308", "0.5",
    "999999999999999999999999999999",
  ]

  @Test(arguments: numbers)
  func `does not end the program, whatever it sends`(number: String) throws {
    for message in Self.messages {
      // All of them together, and each one alone among valid ones.
      let places = message.split(separator: "#", omittingEmptySubsequences: false)
      for odd in 0..<places.count {
        var text = String(places[0])
        for (place, rest) in places.dropFirst().enumerated() {
          text += (odd == places.count - 1 || place == odd ? number : "7") + rest
        }
        var talk = Talk()
        talk.hear(text)
        talk.draw()
        // State that remains of it meets valid messages, and time.
        for sound in Self.messages { talk.hear(sound.replacing("#", with: "9")) }
        talk.wait()
        for sound in Self.messages.reversed() { talk.hear(sound.replacing("#", with: "11")) }
        talk.lose()
      }
    }
  }

  @Test func `may report that a thousand rooms and more are full of unread entries`() {
    var talk = Talk()
    for page in 0..<30 {
      let rows = (0..<50).map {
        #"{"room":"r\#(page).\#($0)","title":"x","head":9007199254740991,"read":1,"unread":9007199254740991}"#
      }
      talk.hear(#"{"type":"rooms","rooms":[\#(rows.joined(separator: ","))]}"#)
    }
    talk.wait()
  }

  /// wschat without its terminal, its archive and its socket.
  private struct Talk {
    private var session = ClientSession(idPrefix: "p", seed: 1)
    private var harness = Harness()
    private var now = Instant(nanoseconds: 1_000_000_000_000)

    init() {
      perform { $0.start(at: $1, &$2) }
      hear(
        #"{"type":"welcome","protocol":"relay.v1","user":"ada","session":"s","server":"r/1","time":1763650000000,"heartbeat_s":25,"limits":{}}"#
      )
      harness.open(Harness.room)
      perform { session, _, actions in session.join(Harness.room, &actions) }
      perform { _ = $0.send(.text, Array(#""text":"hi""#.utf8), to: Harness.room, at: $1, &$2) }
      hear(
        #"{"type":"joined","room":"dm:ada:bo","epoch":"e","head":7,"first":1,"after":7,"resume":"ok","read":7,"received":7}"#
      )
    }

    private mutating func perform(
      _ body: (inout ClientSession, Instant, inout [ClientSession.Action]) -> Void
    ) {
      var actions: [ClientSession.Action] = []
      body(&session, now, &actions)
      for case .event(let event) in actions { harness.take(.client(event)) }
    }

    mutating func hear(_ text: String) {
      let bytes = Array(text.utf8)
      guard let message = try? ServerMessage(decoding: bytes.span) else { return }
      perform { session, now, actions in
        session.heard(at: now)
        _ = session.receive(message, at: now, &actions)
      }
    }

    func draw() { _ = harness.chat.draw(.plain) }

    /// Does what is due in the near future.
    mutating func wait() {
      for _ in 0..<5 {
        if let deadline = session.deadline, deadline.milliseconds(since: now) < 60_000 {
          now = max(now, deadline)
        }
        perform { $0.tick(at: $1, &$2) }
        harness.now += 1000
        harness.take(.tick)
      }
      draw()
    }

    mutating func lose() {
      perform { $0.disconnected(.lost(nil), at: $1, &$2) }
      wait()
    }
  }
}
