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

    /// Waits for an entry of a bot, and returns it in words.
    private func next(of bot: String, _ client: RawClient) throws -> String {
      while true {
        let entry = try client.entry()
        guard entry.from == bot else { continue }
        let about = entry.target ?? entry.replyTo ?? 0
        return "\(entry.kind.rawValue) \(about) \(entry.reaction?.emoji ?? entry.text ?? "")"
      }
    }

    @Test func `the example in Python reacts, and replies when the time is up`() throws {
      let relay = try RelayProcess(
        "bots: [{ user: timer, behaviour: exec, command: [\(Project.path)/config/bots/timer] }]")
      let ada = try RawClient(relay, user: "ada")
      let room = "dm:ada:timer"
      _ = try ada.join(room)
      try ada.send(.send(.init(room: room, id: "1", text: "hello")))
      try ada.send(.send(.init(room: room, id: "2", text: "timer 0 \"tea\" is\nready")))
      #expect(try next(of: "timer", ada) == "react 2 ⏳")
      #expect(try next(of: "timer", ada) == "text 2 \"tea\" is")
      try ada.send(.send(.init(room: room, id: "3", text: "timer 0")))
      #expect(try next(of: "timer", ada) == "react 5 ⏳")
      #expect(try next(of: "timer", ada) == "text 5 Time is up.")
    }

    @Test func `the example in Swift counts votes in a message of its own`() throws {
      let folder = try TemporaryFolder()
      let compiler = try ChildProcess(
        ["swiftc", "-o", folder["tally"], Project["config/bots/tally.swift"]], input: "")
      #expect(try compiler.wait() == .exit(0), "\(compiler.errors)")
      let relay = try RelayProcess(
        """
        bots: [{ user: tally, behaviour: exec, rooms: [here, there], command: [\(folder["tally"])] }]
        """)
      let ada = try RawClient(relay, user: "ada")
      let bo = try RawClient(relay, user: "bo")
      for room in ["here", "there"] {
        // What was written before the bot came is not given to its program.
        while try ada.join(room).members?.contains(where: { $0.user == "tally" }) != true {}
        try ada.say("+1", in: room, id: "1")
        #expect(try next(of: "tally", ada) == "text 0 1 for, 0 against")
        try bo.say("-1", in: room, id: "1")
        #expect(try next(of: "tally", ada) == "edit 2 1 for, 1 against")
        try ada.say("-1", in: room, id: "2")
        #expect(try next(of: "tally", ada) == "edit 2 0 for, 2 against")
      }
    }

    @Test func `a program that does not exist is an error of check-config`() throws {
      let folder = try TemporaryFolder()
      try folder.write("", to: "no-program")
      func check(_ program: String) throws -> ChildProcess {
        try folder.write(
          "bots: [{ user: dice, behaviour: exec, command: ['\(program)'] }]", to: "relay.yaml")
        return try RelayProcess.command("check-config", "--config", folder["relay.yaml"])
      }
      for program in [folder["missing"], folder["no-program"], folder.path, "no-such-program"] {
        let checked = try check(program)
        #expect(try checked.wait() == .exit(1))
        #expect(checked.errors.contains("The program \(program) of the bot dice does not exist"))
      }
      for program in ["sh", Project["config/bots/dice"]] {
        let checked = try check(program)
        #expect(try checked.wait() == .exit(0), "\(checked.errors)")
      }
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
      _ = try ada.first { if case .left(let room, _) = $0 { room } else { nil } }
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
