import Testing

@testable import Swarm

/// The content of a live view, with every kind of element.
enum PlantedFigures {
  static func make(title: String = "planted") -> LiveFigures {
    var figures = LiveFigures(title: title)
    figures.phase = "talk"
    figures.phaseSeconds = (past: 8, all: 12)
    figures.secondsLeft = 4.2
    figures.clients = 98
    figures.clientsPlanned = 100
    figures.sendsPerSecond = 180
    figures.deliveriesPerSecond = 1_234_567
    figures.unacknowledged = 3
    figures.ack?.second = .init(0.8, 2.1, 4)
    figures.ack?.run = .init(0.8, 2.4, 123_456)
    figures.ownCores = 0.12
    figures.lag = .init(nil, 0.2, 3.1)
    figures.relayCores = 0.34
    figures.relayBytes = 45 * 1_048_576
    figures.history = [0, 100, 200, 400, 800]
    return figures
  }
}

@Suite struct `The live view` {
  private func frame(
    _ figures: LiveFigures = PlantedFigures.make(), columns: Int = 80, colour: Bool = false
  ) -> [String] {
    LiveView.frame(of: figures, columns: columns, colour: colour)
  }

  @Test func `shows everything in 60 columns`() {
    let text = frame(columns: 60).joined(separator: "\n")
    for expected in [
      "planted", "0:05 left", "talk", "8.0 of 12.0 s", "98 of 100", "sends/s", "180", "unacked",
      "3", "1.23 M", "run p50", "2.1", "2.4", ">99999", "0 lost, 0 refused, 0 promises broken",
      "12 % of a core, lag p99 0.2 ms, max 3.1", "34 % of a core, 45.0 MiB", "▁▂▃▅█",
      "deliveries, max 800/s",
    ] {
      #expect(text.contains(expected), "\(expected) in\n\(text)")
    }
  }

  @Test(arguments: [0, 1, 2, 10, 33, 59, 60, 80, 200])
  func `no line reaches the last column`(columns: Int) {
    let title = String(repeating: "a long name ", count: 30)
    var figures = PlantedFigures.make(title: title)
    figures.phase = title
    figures.clients = 1_000_000_000
    figures.violations = 1_000_000_000
    figures.history = (0..<1000).map { Double($0 * 1_000_000) }
    for line in frame(figures, columns: columns) {
      #expect(line.count <= max(0, columns - 1), "\(line)")
    }
  }

  @Test func `a name from a file neither moves the cursor nor makes a line too wide`() {
    let figures = PlantedFigures.make(
      title: "a\u{1B}[2Jb\u{202E}\n" + String(repeating: "会", count: 90))
    let title = frame(figures, columns: 60)[0]
    #expect(!title.unicodeScalars.contains("\u{1B}"))
    #expect(!title.unicodeScalars.contains("\u{202E}"))
    // As a terminal counts: a non-ASCII character of the name takes two cells, a rule's dash one.
    #expect(title.unicodeScalars.reduce(0) { $0 + ($1 == "会" ? 2 : 1) } <= 59)
    #expect(title.contains("left"))
  }

  @Test func `without colour there is no escape sequence`() {
    #expect(!frame().joined().unicodeScalars.contains("\u{1B}"))
  }

  @Test func `errors are red from the first one on, and only their own kind`() {
    let red = "\u{1B}[1;31m"
    #expect(!frame(colour: true).joined().contains(red))
    var figures = PlantedFigures.make()
    figures.refusals = 1
    let text = frame(figures, colour: true).joined(separator: "\n")
    #expect(text.contains("\(red)1 refused\u{1B}[0m"))
    #expect(text.components(of: red) == 1)
  }

  @Test func `swarm's own lag is red where it makes the run void`() {
    var figures = PlantedFigures.make()
    figures.lag = .init(nil, 10.1, 20)
    #expect(frame(figures, colour: true).joined().contains("\u{1B}[1;31mp99 10.1 ms"))
  }

  @Test func `an unknown value takes no line`() {
    var figures = PlantedFigures.make()
    let lines = frame(figures).count
    (figures.relayCores, figures.relayBytes, figures.history) = (nil, nil, [])
    #expect(frame(figures).count == lines - 2)
    figures.ack = nil
    #expect(frame(figures).count == lines - 3)
    figures.phaseSeconds = nil
    figures.phase = "clients leave"
    #expect(frame(figures)[1] == "clients leave")
  }

  @Test func `heights of the history are in proportion`() {
    #expect(LiveView.sparkline([0, 1, 2, 3, 4, 5, 6, 7], to: 7) == "▁▂▃▄▅▆▇█")
    #expect(LiveView.sparkline([0, 0], to: 0) == "▁▁")
  }

  @Test func `time left is rounded up, and has hours where it needs them`() {
    #expect(LiveView.clock(0) == "0:00")
    #expect(LiveView.clock(59.2) == "1:00")
    #expect(LiveView.clock(3_661) == "1:01:01")
    #expect(LiveView.clock(-3) == "0:00")
  }
}

@Suite struct `The gauge of a live view` {
  @Test func `rates are of the last second, not of the run`() {
    var gauge = LiveGauge()
    var rate = 0.0
    for tick in 0...20 {
      // 100 sends/s for two seconds, and nothing after that.
      let at = UInt64(tick) * 200_000_000
      let sends = min(tick, 10) * 20
      rate =
        gauge.rates(.init(at: at, sends: sends, deliveries: 0, ownCPUSeconds: 0)).sends
      if tick == 10 { #expect(abs(rate - 100) < 0.01) }
    }
    #expect(rate == 0)
  }

  @Test func `the first moment has no rate`() {
    var gauge = LiveGauge()
    #expect(gauge.rates(.init(at: 5, sends: 9, deliveries: 9, ownCPUSeconds: 9)).sends == 0)
  }
}

extension String {
  func components(of part: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: part) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
