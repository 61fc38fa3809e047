import Testing
import Wire

@Suite struct `Names of users and rooms` {
  @Test func `a user has 1 to 64 of a few characters`() {
    for name in ["a", "0", "a.b_c-9", "-", "...", ".a", "a.", String(repeating: "a", count: 64)] {
      #expect(UserName.isValid(name), "\(name)")
    }
    let wrong = [
      "", "A", "a b", "a:b", "é", "a/b", "a\n", String(repeating: "a", count: 65), "a\0",
      ".", "..",
    ]
    for name in wrong { #expect(!UserName.isValid(name), "\(name)") }
  }

  @Test func `a room has 1 to 140 of a few characters, colons among them`() {
    for name in [
      "a", ":", "x:y:z", "dmx", "dm", "sys:canary", "...", ".:", String(repeating: "r", count: 140),
    ] {
      #expect(RoomName.isValid(name), "\(name)")
    }
    for name in ["", "A", "a b", "a/b", "é", "r\n", ".", "..", String(repeating: "r", count: 141)] {
      #expect(!RoomName.isValid(name), "\(name)")
    }
  }

  @Test func `a direct room names two valid users in bytewise order`() {
    let long = String(repeating: "a", count: 64)
    for name in ["dm:a:b", "dm:-:_", "dm:-:...", "dm:9:a", "dm:a:a0", "dm:\(long):b"] {
      #expect(RoomName.isValid(name), "\(name)")
    }
    let wrong = [
      "dm:", "dm:a", "dm:a:", "dm::a", "dm:b:a", "dm:a:a", "dm:a:b:c", "dm:A:b", "dm:\(long)a:b",
      "dm:-:.", "dm:..:a",
    ]
    for name in wrong {
      #expect(!RoomName.isValid(name), "\(name)")
      #expect(RoomName.peers(of: name) == nil, "\(name)")
    }
    let peers = RoomName.peers(of: "dm:ada:bo")
    #expect(peers?.0 == "ada")
    #expect(peers?.1 == "bo")
    #expect(RoomName.direct("bo", "ada") == "dm:ada:bo")
    #expect(RoomName.direct("ada", "bo") == "dm:ada:bo")
    // Bytewise: "-" is before "." is before digits is before "_" is before letters.
    #expect(RoomName.direct("a_", "aa") == "dm:a_:aa")
  }

  @Test func `a direct room is open to its two users only, a reserved one to no user`() {
    #expect(RoomName.isOpen("dm:ada:bo", to: "ada"))
    #expect(RoomName.isOpen("dm:ada:bo", to: "bo"))
    #expect(!RoomName.isOpen("dm:ada:bo", to: "eve"))
    #expect(!RoomName.isOpen("dm:ada:bo", to: "ad"))
    #expect(RoomName.isOpen("general", to: "eve"))
    #expect(!RoomName.isOpen("sys:canary", to: "ada"))
    for user in ["", "a", "da", "o", "dm", "dm:ada", "ada:bo", ":bo"] {
      #expect(!RoomName.isOpen("dm:ada:bo", to: user))
    }
  }
}
