/// A bot's behaviour; the raw value is its name in the configuration.
public enum Behaviour: String, Sendable, CaseIterable {
  /// Answers each message with the same message.
  case echo
  /// Answers each message with the same message, twice.
  case echoTwice = "echo-twice"
  /// Sends a line every `interval` while the room has an audience.
  case every
  /// Plays a dialogue to each peer who writes to it directly.
  case script
  /// Passes each message to a program, and sends the program's output.
  case exec
}

/// One step of a scripted dialogue.
public enum ScriptStep: Sendable, Equatable {
  case say(String)
  case wait(Duration)
}

/// A bot's settings, from the configuration.
public struct BotDescription: Sendable {
  public var user: String
  /// Its display name.
  public var name: String
  /// Can be combined: an `echo` bot may also use `every`.
  public var behaviours: [Behaviour]
  /// The rooms that it joins, besides its direct rooms.
  public var rooms: [String]
  /// The time between two lines of `every`.
  public var interval: Duration
  /// How long it types an answer; chosen at random for each.
  public var replyDelay: ClosedRange<Duration>
  /// The delay between the end of typing and the send, as if a file were uploaded.
  public var uploadDelay: Duration
  /// Whether others see it typing.
  public var typing: Bool
  /// The lines of `every`: in order, or with a `seed` at random.
  public var lines: [String]
  /// The dialogue of `script`: starts with a peer's first message, and again with the first one
  /// after its end.
  public var script: [ScriptStep]
  /// The program of `exec` and its arguments; looked up in `PATH` unless it contains a slash.
  public var command: [String]
  /// The same seed and clock give the same conversation; without one each run differs.
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

  /// How many messages `echo` or `echo-twice` answers with.
  var echoes: Int {
    behaviours.contains(.echoTwice) ? 2 : behaviours.contains(.echo) ? 1 : 0
  }

  var playsScript: Bool { behaviours.contains(.script) && lastSaying != nil }

  /// The index of the last step that sends a message.
  var lastSaying: Int? {
    script.lastIndex { if case .say = $0 { true } else { false } }
  }

  /// Whether it sends answers whose ids name the answered entry.
  var answers: Bool { echoes > 0 || playsScript }
}
