import Glibc
import TestSupport
import Testing

@testable import Swarm

@Suite struct `A terminal during a run` {
  private static let scenario = """
    name: shown
    spawn: { config: { limits: { sends_per_s: 0, bytes_per_s: 0 } } }
    rooms: [{ shape: one }]
    clients: [{ persona: chatter, count: 5 }]
    phases:
      - { name: arrive, seconds: 1.2, connections: { constant: 100 } }
      - { name: talk, seconds: SECONDS, messages: { constant: 50 } }
    """

  /// The output, and the outcome.
  private struct Run {
    var screen: Screen
    var frames = 0
    var sawFigures = false
    var isColoured = false
    var exitCode: Int32 = -1

    /// - Parameter interrupt: presses Ctrl-C when this text is on the screen.
    init(
      seconds: Double = 2, environment: [String] = ["TERM=xterm"], _ arguments: [String] = [],
      interruptAt interrupt: String? = nil
    ) throws {
      let folder = try TemporaryFolder()
      try folder.write(
        `A terminal during a run`.scenario.replacing("SECONDS", with: "\(seconds)"),
        to: "scenario.yaml")
      let terminal = try PseudoTerminal(columns: 70, rows: 60)
      screen = Screen(columns: 70, rows: 60)
      let id = try terminal.start(
        [Programs.swarm, "run", folder["scenario.yaml"]] + arguments, environment: environment)
      var awaited = interrupt
      while let bytes = terminal.read() {
        screen.take(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        frames += text.contains("\u{1B}[?2026h") ? 1 : 0
        isColoured = isColoured || text.contains("\u{1B}[2m")
        let shown = screen.lines.joined(separator: "\n")
        sawFigures = sawFigures || (shown.contains("unacked") && shown.contains(" left ──"))
        if let text = awaited, shown.contains(text) {
          awaited = nil
          try terminal.type("\u{3}")
        }
      }
      var status: Int32 = 0
      while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
      exitCode = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    var text: String { (screen.history + screen.lines).joined(separator: "\n") }
  }

  @Test func `shows figures below the log, and in the end the log and the report alone`() throws {
    let run = try Run()
    #expect(run.exitCode == 0 || run.exitCode == 4, "\(run.text)")
    #expect(run.sawFigures)
    #expect(run.isColoured)
    // Five a second for three seconds; less on a busy machine.
    #expect(run.frames > 5)
    #expect(run.screen.isUsual, "\(run.screen.strange)")
    #expect(!run.text.contains("unacked"), "\(run.text)")
    let order = [
      "0.0 s: phase arrive", "1.2 s: phase talk", "all sent", "scenario shown", "ack ",
    ]
    var rest = run.text[...]
    for expected in order {
      let range = try #require(rest.firstRange(of: expected), "\(expected) in\n\(run.text)")
      rest = rest[range.upperBound...]
    }
  }

  @Test func `is left as it was when Ctrl-C is pressed`() throws {
    let run = try Run(seconds: 600, interruptAt: "deliveries, max")
    #expect(run.exitCode == 130, "\(run.text)")
    #expect(run.sawFigures)
    #expect(run.screen.isUsual, "\(run.screen.strange)")
    #expect(!run.text.contains("unacked"), "\(run.text)")
    #expect(run.text.contains("interrupted: the rest of the run was not checked"))
  }

  @Test(arguments: [["TERM=dumb"], []])
  func `that cannot be drawn on gets lines`(environment: [String]) throws {
    let run = try Run(seconds: 0.2, environment: environment)
    #expect(run.frames == 0)
    #expect(!run.sawFigures)
    #expect(run.text.contains("0.0 s: phase arrive"), "\(run.text)")
  }

  @Test func `NO_COLOR removes the colors of the view only`() throws {
    let run = try Run(seconds: 0.5, environment: ["TERM=xterm", "NO_COLOR=1"])
    #expect(run.sawFigures)
    #expect(!run.isColoured)
  }

  @Test func `stays empty until the report if swarm is quiet`() throws {
    let run = try Run(seconds: 0.2, ["--quiet"])
    #expect(run.frames == 0)
    #expect(run.screen.lines.first?.hasPrefix("scenario shown") == true, "\(run.text)")
  }
}

@Suite struct `A display` {
  private static func environment(_ name: String) -> String? { name == "TERM" ? "xterm" : nil }

  @Test(.timeLimit(.minutes(30)))
  func `does not wait for a blocked terminal, and is correct when it accepts output again`() throws
  {
    let terminal = try PseudoTerminal(columns: 80, rows: 24)
    let descriptor = try terminal.open()
    defer { close(descriptor) }
    let display = try #require(LiveDisplay(on: descriptor, environment: Self.environment))
    var figures = PlantedFigures.make()
    for _ in 0..<2000 { display.draw(figures) }
    #expect(display.pending.count < 10_000)
    display.log("said meanwhile")
    var screen = Screen(columns: 80, rows: 24)
    figures.clients = 77
    for _ in 0..<100 {
      display.draw(figures)
      screen.take(terminal.readNow())
    }
    #expect(screen.isUsual)
    #expect(
      screen.lines
        == ["said meanwhile"] + LiveView.frame(of: figures, columns: 80, colour: false))
    display.finish()
    screen.take(terminal.readNow())
    #expect(screen.lines == ["said meanwhile"])
  }

  @Test func `does not make others' writes to the same terminal fail`() throws {
    let terminal = try PseudoTerminal(columns: 80, rows: 24)
    let descriptor = try terminal.open()
    defer { close(descriptor) }
    let display = try #require(LiveDisplay(on: descriptor, environment: Self.environment))
    display.draw(PlantedFigures.make())
    #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test(.timeLimit(.minutes(30)))
  func `ends when the terminal has gone`() throws {
    let terminal = try PseudoTerminal(columns: 80, rows: 24)
    let descriptor = try terminal.open()
    defer { close(descriptor) }
    let display = try #require(LiveDisplay(on: descriptor, environment: Self.environment))
    for _ in 0..<100 { display.draw(PlantedFigures.make()) }
    terminal.hangUp()
    display.log("to nobody")
    display.finish()
    #expect(display.pending.isEmpty)
  }

  @Test func `of few rows shows the most important`() throws {
    let terminal = try PseudoTerminal(columns: 80, rows: 4)
    let descriptor = try terminal.open()
    defer { close(descriptor) }
    let display = try #require(LiveDisplay(on: descriptor, environment: Self.environment))
    var screen = Screen(columns: 80, rows: 4)
    for _ in 0..<3 {
      display.draw(PlantedFigures.make())
      screen.take(terminal.readNow())
    }
    #expect(screen.history.isEmpty)
    #expect(screen.lines.count == 3)
    #expect(screen.lines.first?.contains("planted") == true)
  }

  @Test func `is not shown if standard error is not a terminal`() throws {
    let descriptor = unsafe open("/dev/null", O_WRONLY)
    defer { close(descriptor) }
    #expect(LiveDisplay(on: descriptor, environment: Self.environment) == nil)
  }
}
