extension Configuration {
  /// A simulated user, as configured.
  ///
  /// In YAML:
  /// ```yaml
  /// - user: guide
  ///   name: The guide            # display name; default: the user's name
  ///   behaviour: [echo, script]  # one, or a list
  ///   rooms: [general]           # besides its direct messages
  ///   interval_s: 5              # every: time between two lines
  ///   reply_delay_s: [1, 3]      # minimum and maximum
  ///   upload_delay_s: 0          # delay of each send
  ///   typing: true               # shows typing before it answers
  ///   seed: 7                    # same seed, same clock: same conversation
  ///   lines: ["one", "two"]      # every
  ///   script: ["hello", { wait_s: 2 }, "how are you?"]  # script
  ///   command: [./bots/dice, --sides, "6"]              # exec
  /// ```
  public struct Bot: Equatable, Sendable {
    /// Its user name, which is reserved for it.
    public var user: String
    /// Its display name; `nil` = `user`.
    public var name: String?
    /// Its behaviours, all active at once; never empty.
    public var behaviours: [Behaviour]
    /// The rooms that it joins, besides its direct messages.
    public var rooms: [String] = []
    /// `every`: the time between two lines.
    public var intervalSeconds = 5.0
    /// The minimum and maximum time that it takes to answer.
    public var replyDelaySeconds = 1.0...3.0
    /// How long each send is delayed.
    public var uploadDelaySeconds = 0.0
    /// Whether it shows typing before it answers.
    public var typing = true
    /// The lines of `every`, in order.
    public var lines: [String] = []
    /// The messages and waits of `script`.
    public var script: [ScriptStep] = []
    /// The program of `exec`, and its arguments.
    public var command: [String] = []
    /// The seed of its random numbers; `nil` = from the system.
    public var seed: UInt64?

    /// Creates a bot with defaults for everything but its name and behaviours.
    public init(user: String, behaviours: [Behaviour]) {
      self.user = user
      self.behaviours = behaviours
    }
  }

  /// A bot's behaviour.
  public enum Behaviour: String, CaseIterable, Sendable {
    /// Answers each message with the same message.
    case echo
    /// Answers each message with the same message, twice.
    case echoTwice = "echo-twice"
    /// Sends a line at each interval.
    case every
    /// Plays a dialogue with waits.
    case script
    /// Passes messages to a program, and sends the program's output.
    case exec
  }

  /// One step of a bot's dialogue.
  public enum ScriptStep: Equatable, Sendable {
    /// A string in YAML.
    case say(String)
    /// `{ wait_s: 2 }` in YAML.
    case wait(seconds: Double)
  }
}
