import Testing

@testable import YAML

@Suite struct `Nearest key` {
  @Test(arguments: [
    ("", "abc", 3), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "ab", 1), ("abc", "xabc", 1),
    ("abcd", "abdc", 1), ("ca", "abc", 3), ("kitten", "sitting", 3),
  ])
  func `distance counts bytes added, dropped, replaced, and neighbours swapped`(
    a: String, b: String, distance: Int
  ) {
    #expect(Spelling.distance(a, b) == distance)
    #expect(Spelling.distance(b, a) == distance)
  }

  @Test func `a short name must be nearer than a long one`() {
    #expect(Spelling.nearest(to: "tls", among: ["log", "bots"]) == nil)
    #expect(Spelling.nearest(to: "lgo", among: ["log", "bots"]) == "log")
    #expect(
      Spelling.nearest(to: "heartbeat_seconds", among: ["heartbeat_s"]) == nil)
    #expect(
      Spelling.nearest(to: "hearbeats_s", among: ["burst", "heartbeat_s"])
        == "heartbeat_s")
  }
}
