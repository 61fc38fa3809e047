/// What a bot does; the raw value is what stands in the configuration.
public enum Behaviour: String, Sendable, CaseIterable {
  /// Answers each message with the same message.
  case echo
  /// Answers each message with the same message, twice.
  case echoTwice = "echo-twice"
  /// Says a line of its own every `interval` while somebody is there.
  case every
  /// Plays a dialogue to whoever writes to it directly.
  case script
  /// Hands each message to a program and sends what that writes.
  case exec
}

/// One step of a scripted dialogue.
public enum ScriptStep: Sendable, Equatable {
  case say(String)
  case wait(Duration)
}

/// One bot, as it is configured.
public struct BotDescription: Sendable {
  public var user: String
  /// How it is shown to people.
  public var name: String
  /// Several go together: an `echo` may also speak up by `every`.
  public var behaviours: [Behaviour]
  /// Where it takes part besides its direct rooms.
  public var rooms: [String]
  /// Between two lines of `every`.
  public var interval: Duration
  /// How long it takes to write an answer; drawn anew for each.
  public var replyDelay: ClosedRange<Duration>
  /// Between the end of writing and the sending, as if something were uploaded.
  public var uploadDelay: Duration
  /// Whether others see it write.
  public var typing: Bool
  /// What `every` says: in turn, or with a `seed` drawn by it.
  public var lines: [String]
  /// What `script` plays: from a peer's first message on, and again from the first message after
  /// its end.
  public var script: [ScriptStep]
  /// The program of `exec` and its arguments; looked for in `PATH` where it has no slash.
  public var command: [String]
  /// The same seed and clock give the same conversation; without one each run is another.
  public var seed: UInt64?

  public init(
    user: String, name: String, behaviours: [Behaviour], rooms: [String] = [],
    interval: Duration = .seconds(5),
    replyDelay: ClosedRange<Duration> = .seconds(1) ... .seconds(3),
    uploadDelay: Duration = .zero, typing: Bool = true, lines: [String] = [],
    script: [ScriptStep] = [], command: [String] = [], seed: UInt64? = nil
  ) {
    self.user = user
    self.name = name
    self.behaviours = behaviours
    self.rooms = rooms
    self.interval = interval
    self.replyDelay = replyDelay
    self.uploadDelay = uploadDelay
    self.typing = typing
    self.lines = lines
    self.script = script
    self.command = command
    self.seed = seed
  }

  /// How many messages answer one by `echo` or `echo-twice`.
  var echoes: Int {
    behaviours.contains(.echoTwice) ? 2 : behaviours.contains(.echo) ? 1 : 0
  }

  var playsScript: Bool { behaviours.contains(.script) && lastSaying != nil }

  /// The number of the last step that says something.
  var lastSaying: Int? {
    script.lastIndex { if case .say = $0 { true } else { false } }
  }

  /// Whether it answers by itself, with ids that name the entry that is answered.
  var answers: Bool { echoes > 0 || playsScript }
}
