import Relay
import Testing

@Suite struct `Rights over rooms` {
  @Test(arguments: [
    ("general", "general", true), ("general", "general2", false), ("general", "Xgeneral", false),
    ("*", "general", true), ("*", "a:b.c", true), ("", "a", false), ("**", "a", true),
    ("team:*", "team:a:b", true), ("team:*", "team:", true), ("team:*", "team", false),
    ("*.public", "a.public", true), ("*.public", "a.public.b", false), ("a*b*c", "aXbYc", true),
    ("a*b*c", "abbc", true), ("a*b*c", "acb", false), ("?", "a", true), ("?", "ab", false),
    ("??*", "a", false), ("a?c", "abc", true), ("*a?", "aaab", true), ("*ab", "aab", true),
    ("*aab", "aaaab", true), ("[ab]", "a", false), ("a.c", "abc", false), ("\\*", "a", false),
  ])
  func `a pattern matches a whole name`(pattern: String, room: String, matches: Bool) {
    let rights = Rights(join: [pattern], send: ["other"])
    #expect(rights.mayRead(room) == matches)
    #expect(!rights.maySend(room))
    #expect(Rights(send: ["x", pattern]).maySend(room) == matches)
  }

  @Test func `without a list everything is allowed, with an empty list nothing`() {
    for room in ["general", "dm:ada:bo"] {
      #expect(Rights.all.mayRead(room))
      #expect(Rights.all.maySend(room))
      #expect(Rights(send: []).mayRead(room))
      #expect(!Rights(send: []).maySend(room))
      #expect(!Rights(join: []).mayRead(room))
      #expect(Rights(join: []).maySend(room))
    }
  }

  @Test(arguments: ["*", "dm:*", "dm:ada:bo", "d?:*", "??:ada:bo"])
  func `no pattern matches a direct message`(pattern: String) {
    let rights = Rights(join: [pattern], send: [pattern])
    #expect(!rights.mayRead("dm:ada:bo"))
    #expect(!rights.maySend("dm:ada:bo"))
  }

  @Test func `a pattern that is meant to be slow is matched quickly`() {
    let pattern = String(repeating: "*a", count: 70)
    let rights = Rights(join: Array(repeating: pattern, count: 128))
    // Trying all ways to divide the name among the stars would never end.
    let began = ContinuousClock.now
    #expect(!rights.mayRead(String(repeating: "a", count: 139) + "b"))
    #expect(ContinuousClock.now - began < .seconds(60))
  }
}
