extension Configuration {
  /// A simulated user, as configured.
  ///
  /// In YAML:
  /// ```yaml
  /// - user: guide
  ///   name: The guide            # for people; the user's name if absent
  ///   behaviour: [echo, script]  # one, or a list
  ///   rooms: [general]           # besides its direct messages
  ///   interval_s: 5              # every: between two lines
  ///   reply_delay_s: [1, 3]      # the shortest and the longest
  ///   upload_delay_s: 0          # a post stays on its way for this long
  ///   typing: true               # is seen typing before it answers
  ///   seed: 7                    # same seed, same clock: same conversation
  ///   lines: ["one", "two"]      # every
  ///   script: ["hello", { wait_s: 2 }, "how are you?"]  # script
  ///   command: [./bots/dice, --sides, "6"]              # exec
  /// ```
  public struct Bot: Equatable, Sendable {
    /// Its name on the wire; no one else can claim it.
    public var user: String
    /// Its name for people; `user` if there is none.
    public var name: String?
    /// What it does, all of it at once; never empty.
    public var behaviours: [Behaviour]
    /// The rooms that it joins, besides its direct messages.
    public var rooms: [String] = []
    /// `every`: between two lines of its own.
    public var intervalSeconds = 5.0
    /// How long it takes to answer: the shortest and the longest.
    public var replyDelaySeconds = 1.0...3.0
    /// How long each post stays on its way.
    public var uploadDelaySeconds = 0.0
    /// Whether it is seen typing before it answers.
    public var typing = true
    /// What `every` says, in turn.
    public var lines: [String] = []
    /// What `script` says, and where it waits.
    public var script: [ScriptStep] = []
    /// The program that `exec` runs, and its arguments.
    public var command: [String] = []
    /// Where its random numbers start; from the system if there is none.
    public var seed: UInt64?

    /// A bot with defaults for all but what it is and does.
    public init(user: String, behaviours: [Behaviour]) {
      self.user = user
      self.behaviours = behaviours
    }
  }

  /// What a bot does.
  public enum Behaviour: String, CaseIterable, Sendable {
    /// Answers with the last message it was sent.
    case echo
    /// Answers a post with two.
    case echoTwice = "echo-twice"
    /// Says a line of its own at each interval.
    case every
    /// Plays a dialogue with waits.
    case script
    /// Leaves the answers to a program.
    case exec
  }

  /// One step of a bot's dialogue.
  public enum ScriptStep: Equatable, Sendable {
    /// In YAML a text.
    case say(String)
    /// In YAML `{ wait_s: 2 }`.
    case wait(seconds: Double)
  }
}
