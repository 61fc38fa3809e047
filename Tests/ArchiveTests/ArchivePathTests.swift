import Archive
import Testing

@Suite struct `The name of an account's file` {
  private func name(_ relay: String, _ user: String) -> String {
    let path = Archive.path(stateHome: "/home/ada/.local/state", relay: relay, user: user)
    #expect(path.hasPrefix("/home/ada/.local/state/wschat/"))
    return String(path.dropFirst("/home/ada/.local/state/wschat/".count))
  }

  @Test func `it contains the user and the relay`() {
    #expect(name("ws://127.0.0.1:8080/ws", "ada") == "ada@ws:++127.0.0.1:8080+ws.db")
  }

  @Test func `no two accounts share a name`() {
    let long = String(repeating: "x", count: 300)
    let relays = [
      "ws://a/ws", "wss://a/ws", "ws://a/ws/", "ws://a+ws", "ws://a%2Fws", "ws://a:80/ws", "",
      "../../etc", "ws://\(long)/ws", "ws://\(long)/wz", "ws://a/w s", "ws://ä/ws",
    ]
    var names: Set<String> = []
    for relay in relays {
      for user in ["ada", "a", "..", "", "ada@b"] { names.insert(name(relay, user)) }
    }
    #expect(names.count == relays.count * 5)
    #expect(names.allSatisfy { !$0.contains("/") && $0.utf8.count <= 230 && $0 != ".." })
    #expect(names.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
  }

  @Test func `it contains no secret`() {
    #expect(name("wss://ada:secret@a/ws?token=secret#secret", "ada") == "ada@wss:++a+ws.db")
  }
}
