import RelayConfiguration
import Testing

@Suite struct `Configured bots` {
  @Test func `a bot is read with all its keys`() throws {
    let fixture = try ConfigurationFixture(
      """
      bots:
        - user: guide
          name: The guide
          behaviour: [script, every, exec]
          rooms: [general, team:7]
          interval_s: 2.5
          reply_delay_s: [0, 1.5]
          upload_delay_s: 3
          typing: false
          lines: [one, 2]
          script: [hello, { wait_s: 0.5 }, "how are you?"]
          command: [./run, "--fast"]
          seed: 9
      """)
    var bot = Configuration.Bot(user: "guide", behaviours: [.script, .every, .exec])
    bot.name = "The guide"
    bot.rooms = ["general", "team:7"]
    bot.intervalSeconds = 2.5
    bot.replyDelaySeconds = 0...1.5
    bot.uploadDelaySeconds = 3
    bot.typing = false
    bot.lines = ["one", "2"]
    bot.script = [.say("hello"), .wait(seconds: 0.5), .say("how are you?")]
    bot.command = ["./run", "--fast"]
    bot.seed = 9
    #expect(try fixture.load().get().bots == [bot])
  }

  @Test func `a bot needs no more than a name and a behaviour`() throws {
    let fixture = try ConfigurationFixture("bots: [{ user: twice, behaviour: echo-twice }]")
    let bots = try fixture.load().get().bots
    #expect(bots == [Configuration.Bot(user: "twice", behaviours: [.echoTwice])])
    #expect(bots[0].intervalSeconds == 5)
    #expect(bots[0].replyDelaySeconds == 1...3)
    #expect(bots[0].uploadDelaySeconds == 0)
    #expect(bots[0].typing)
    #expect(bots[0].seed == nil)
  }

  @Test(arguments: [
    (
      "user: b, behaviour: every",
      #"lines of the bot "b" is missing; the behaviour every requires it"#
    ),
    (
      "user: b, behaviour: [echo, script]",
      #"script of the bot "b" is missing; the behaviour script requires it"#
    ),
    (
      "user: b, behaviour: exec",
      #"command of the bot "b" is missing; the behaviour exec requires it"#
    ),
    (
      "user: b, behaviour: every, lines: []",
      #"lines of the bot "b" is empty; the behaviour every requires it"#
    ),
    (
      "user: b, behaviour: exec, command: ['']",
      #"command of the bot "b" is empty; the behaviour exec requires it"#
    ),
    (
      "user: b",
      #"behaviour of the bot "b" is missing; "#
        + "expected echo, echo-twice, every, script or exec, or a list of them"
    ),
    (
      "user: b, behaviour: [echo, sing]",
      #"behaviour[1] of the bot "b" is "sing"; expected echo, echo-twice, every, script or exec"#
    ),
    (
      "user: b, behaviour: [echo, echo]",
      #"behaviour of the bot "b" names echo twice; list each behaviour once"#
    ),
    ("behaviour: echo", "user is missing; expected 1 to 64 of a-z 0-9 . _ -, not . or .."),
    ("user: B, behaviour: echo", #"user is "B"; expected 1 to 64 of a-z 0-9 . _ -, not . or .."#),
    ("user: .., behaviour: echo", #"user is ".."; expected 1 to 64 of a-z 0-9 . _ -, not . or .."#),
    (
      "user: b, behaviour: echo, rooms: ['a b']",
      #"rooms[0] of the bot "b" is "a b"; "#
        + "expected 1 to 140 of a-z 0-9 . _ : -, not . or .., and not beginning with dm: or sys:"
    ),
    (
      "user: b, behaviour: echo, rooms: general",
      #"rooms of the bot "b" is "general"; expected a list"#
    ),
    (
      "user: b, behaviour: echo, reply_delay_s: [3, 1]",
      #"reply_delay_s of the bot "b" is a list; "#
        + "expected the shortest and the longest delay, 0 to 3600 seconds, such as [1, 3]"
    ),
    (
      "user: b, behaviour: echo, reply_delay_s: 2",
      #"reply_delay_s of the bot "b" is "2"; "#
        + "expected the shortest and the longest delay, 0 to 3600 seconds, such as [1, 3]"
    ),
    (
      "user: b, behaviour: echo, interval_s: 0",
      #"interval_s of the bot "b" is "0"; expected seconds from 0.1 to 86400"#
    ),
    (
      "user: b, behaviour: echo, upload_delay_s: nan",
      #"upload_delay_s of the bot "b" is "nan"; expected seconds from 0 to 3600"#
    ),
    (
      "user: b, behaviour: echo, typing: no",
      #"typing of the bot "b" is "no"; expected true or false"#
    ),
    (
      "user: b, behaviour: echo, seed: -1",
      #"seed of the bot "b" is "-1"; expected a whole number from 0 to 18446744073709551615"#
    ),
    (
      "user: b, behaviour: echo, name: ' '",
      #"name of the bot "b" is " "; expected one line of 1 to 200 bytes, "#
        + "without characters that change its direction"
    ),
    (
      "user: b, behaviour: every, lines: [a, ' ']",
      #"lines[1] of the bot "b" is " "; "#
        + "expected a text that is not blank and has no control characters"
    ),
    (
      "user: b, behaviour: script, script: [a, { wait: 2 }]",
      #"script[1] of the bot "b" is a mapping; "#
        + "expected a text, or a wait such as { wait_s: 2 } (0 to 86400 seconds)"
    ),
  ])
  func `an error in a bot is reported with the bot's name`(bot: String, sentence: String) throws {
    #expect(try complaints(about: "bots: [{ \(bot) }]") == [":1: bots[0].\(sentence)"])
  }

  @Test func `an unknown key of a bot is reported with the nearest key, or with all`() throws {
    #expect(
      try complaints(about: "bots:\n- user: b\n  behaviour: echo\n  intervall_s: 3\n  mood: good")
        == [
          ":4: bots[0].intervall_s is not a known key; did you mean bots[0].interval_s?",
          ":5: bots[0].mood is not a known key; known keys: user, name, behaviour, rooms, "
            + "interval_s, reply_delay_s, upload_delay_s, typing, lines, script, command, seed",
        ])
  }

  @Test func `an element that is no bot is reported by its kind`() throws {
    #expect(
      try complaints(about: "bots: [echo]") == [#":1: bots[0] is "echo"; expected keys and values"#]
    )
    #expect(
      try complaints(about: "bots: echo") == [#":1: bots is "echo"; expected a list of bots"#])
  }

  @Test func `two bots do not share a name`() throws {
    #expect(
      try complaints(about: "bots:\n- { user: b, behaviour: echo }\n- { user: b, behaviour: echo }")
        == [
          #":3: bots[1].user of the bot "b" is "b", which another bot has; use a different name for each bot"#
        ])
  }

  @Test func `a bot's rooms exist, and its texts can be sent`() throws {
    let yaml = """
      rooms: { create: listed }
      limits: { text_bytes: 4 }
      bots:
        - { user: a, behaviour: echo, rooms: [general] }
        - { user: b, behaviour: every, rooms: [attic], lines: [four, fives] }
      """
    #expect(
      try complaints(about: yaml) == [
        #":5: bots[1].rooms of the bot "b" names "attic", but rooms.create allows listed rooms "#
          + "only; add it to rooms.listed, or set rooms.create: anyone",
        #":5: bots[1] of the bot "b" has a text of 5 bytes; limits.text_bytes allows 4"#,
      ])
  }

  @Test func `a file of bots is read, and its own lines are named`() throws {
    let good = try ConfigurationFixture("- { user: echo, behaviour: echo }")
    let loaded = try ConfigurationFixture("bots_file: \(good.path)").load().get()
    #expect(loaded.bots == [Configuration.Bot(user: "echo", behaviours: [.echo])])
    #expect(loaded.botsFile == good.path)

    let bad = try ConfigurationFixture("- user: echo\n  behaviour: sing")
    #expect(
      try complaints(about: "", ["RELAY_BOTS_FILE": bad.path]) == [
        "\(bad.path):2: bots[0].behaviour of the bot \"echo\" is \"sing\"; "
          + "expected echo, echo-twice, every, script or exec"
      ])
  }

  @Test func `bots are configured in one place`() throws {
    let bots = try ConfigurationFixture("[]")
    let yaml = "bots: [{ user: b, behaviour: echo }]\nbots_file: \(bots.path)"
    #expect(
      try complaints(about: yaml) == [":2: bots_file and bots are both set; remove one of them"])
  }
}
