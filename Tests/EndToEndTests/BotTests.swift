import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `Bots that run in a relay` {
    @Test func `echo answers once, echo-twice twice, dice rolls`() throws {
      let relay = try RelayProcess(
        """
        bots:
          - { user: echo, behaviour: echo, reply_delay_s: [0, 0.05] }
          - { user: twice, behaviour: echo-twice, reply_delay_s: [0, 0.05] }
          - user: dice
            behaviour: exec
            reply_delay_s: [0, 0.05]
            command: [\(Project.path)/config/bots/dice]
        """)
      let ada = try RawClient(relay, user: "ada")
      func answers(of bot: String, to text: String, _ count: Int) throws -> [String] {
        let room = RoomName.direct("ada", bot)
        _ = try ada.join(room)
        try ada.send(.send(.init(room: room, id: text, text: text)))
        var answers: [String] = []
        while answers.count < count {
          let entry = try ada.entry()
          if entry.from == bot { answers.append(entry.text ?? "") }
        }
        return answers
      }
      #expect(try answers(of: "echo", to: "one", 1) == ["one"])
      #expect(try answers(of: "twice", to: "two", 2) == ["two", "two"])
      let roll = try answers(of: "dice", to: "2d6", 1)[0].split(separator: " ")
      let numbers = roll.compactMap { Int($0) }
      #expect(roll.count == 5, "\(roll)")
      #expect(numbers.count == 3, "\(roll)")
      #expect(numbers.prefix(2).allSatisfy { 1...6 ~= $0 })
      #expect(numbers.prefix(2).reduce(0, +) == numbers.last)
      // Nothing more came than was awaited.
      #expect(try ada.everything(in: "dm:ada:echo").compactMap(\.text) == ["one", "one"])
      #expect(try ada.everything(in: "dm:ada:twice").count == 3)
    }

    @Test func `a bot with the behaviour every sends only while a user is subscribed`() throws {
      let relay = try RelayProcess(
        """
        bots:
          - { user: tick, behaviour: every, interval_s: 0.1, rooms: [left, kept], lines: [tick] }
        """)
      let ada = try RawClient(relay, user: "ada")
      _ = try ada.join("left")
      _ = try ada.join("kept")
      func wait(for count: Int, in room: String) throws {
        var left = count
        while left > 0 { if try ada.entry().room == room { left -= 1 } }
      }
      try wait(for: 3, in: "left")
      try ada.send(.leave(room: "left", forget: false))
      _ = try ada.first { if case .left(let room) = $0 { room } else { nil } }
      let before = try ada.history("left", limit: 1).head
      // The other room is the clock.
      try wait(for: 8, in: "kept")
      // One line may have been on its way.
      #expect(try ada.history("left", limit: 1).head <= before + 1)
      _ = try ada.join("left")
      try wait(for: 1, in: "left")
    }

    @Test func `every message is answered exactly once when the relay is killed`()
      throws
    {
      let relay = try RelayProcess(
        """
        limits: { sends_per_s: 0, bytes_per_s: 0, burst: 0, requests_per_s: 0 }
        bots: [{ user: echo, behaviour: echo, reply_delay_s: [0, 0.02], typing: false }]
        """)
      let room = "dm:ada:echo"
      for round in 1...3 {
        let ada = try RawClient(relay, user: "ada")
        for number in 1...10 {
          try ada.say("\(round)-\(number)", in: room, id: "\(round)-\(number)")
        }
        // Wherever the bot is with its answers.
        try relay.kill()
        try relay.start()
      }
      let ada = try RawClient(relay, user: "ada")
      _ = try ada.join(room, after: 0)
      try ada.send(.send(.init(room: room, id: "last", text: "last")))
      var answers: [String] = []
      while answers.last != "last" {
        let entry = try ada.entry()
        if entry.from == "echo" { answers.append(entry.text ?? "") }
      }
      // It answers each once, in order; which was not acknowledged to it was not sent again.
      let expected = (1...3).flatMap { round in (1...10).map { "\(round)-\($0)" } } + ["last"]
      #expect(answers == expected)
      #expect(try relay.stop() == .exit(0))
    }
  }
}
