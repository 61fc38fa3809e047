import Platform
import Testing

@testable import RelayCommand

@Suite struct `The figures of relay top` {
  private func sample(_ text: String, afterSeconds seconds: Int = 0) -> MetricsSample {
    let at = Instant(nanoseconds: 0).adding(milliseconds: 1000 * seconds)
    return MetricsSample("process_start_time_seconds 7\n" + text, census: [], at: at)
  }

  @Test func `a rate is the increase in a second, by label or of all`() {
    let before = sample("# HELP a b\na{code=\"x\"} 10\na{code=\"y\"} 5\n")
    let after = sample("a{code=\"x\"} 30\na{code=\"y\"} 5\na{code=\"z\"} 2\n", afterSeconds: 2)
    let figures = TopFigures(after, since: before)
    #expect(figures.rate("a") == 11)
    #expect(figures.rates("a").map(\.label) == ["x", "z"])
    #expect(figures.rates("a").map(\.value) == [10, 1])
    #expect(figures.rate("b") == 0)
  }

  @Test func `a relay that has started again has no rate yet`() {
    let after = MetricsSample(
      "process_start_time_seconds 8\na 1\n", census: [], at: Instant(nanoseconds: 5))
    #expect(TopFigures(after, since: sample("a 100\n")).rate("a") == 0)
  }

  @Test(arguments: [(0.5, 0.002), (0.99, 0.01), (0.25, 0.001)])
  func `a quantile is that of what was recorded in between`(quantile: Double, expected: Double) {
    func histogram(_ counts: [Int]) -> String {
      zip(["0.001", "0.002", "0.01", "+Inf"], counts).map {
        "h_bucket{le=\"\($0)\"} \($1)\n"
      }.joined()
    }
    let figures = TopFigures(
      sample(histogram([105, 110, 119, 120]), afterSeconds: 1),
      since: sample(histogram([100, 100, 100, 100])))
    #expect(abs((figures.quantile(quantile, of: "h") ?? 0) - expected) < 1e-9)
    let none = TopFigures(
      sample(histogram([1, 1, 1, 1]), afterSeconds: 1), since: sample(histogram([1, 1, 1, 1])))
    #expect(none.quantile(quantile, of: "h") == nil)
  }

  @Test func `what is no metric is left out, and does no harm`() {
    let odd = sample("a\n\na{ 1\n{} 2\na{x=\"\" 3\nb nan\nc 1e400\n", afterSeconds: 1)
    let table = TopTable(figures: TopFigures(odd, since: sample("")), uptime: nil)
    #expect(!table.lines.isEmpty)
    #expect(!TopFigures(odd, since: sample("")).json(at: 0).isEmpty)
  }
}
