import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Pictures of people, on a terminal that answers as kitty does.
  @Suite struct `wschat with pictures` {
    /// A relay whose directory has people with pictures, three of which are good.
    private final class World {
      let folder: TemporaryFolder
      let server: ChildProcess
      let relay: RelayProcess

      init(_ configuration: String = "") throws {
        folder = try TemporaryFolder()
        server = try ChildProcess(
          [
            "/usr/bin/python3", "-B", Programs.peer("pictures.py"), "hostile",
            folder["people.yaml"],
          ])
        guard server.readLine() == "ready" else { throw Unexpected(server.errors) }
        relay = try RelayProcess(
          """
          directory: { kind: local, file: \(folder["people.yaml"]), private_avatars: true }
          \(configuration)
          """, in: folder)
      }

      deinit { server.write("\n") }
    }

    /// What the terminal has after each step.
    private func terminal(
      _ world: World, answer: String = "OK", configuration: String = "",
      arguments: [String] = ["--user", "ada"], _ steps: [String]
    ) throws -> [String] {
      try world.folder.write(configuration, to: "config/wschat/config.yaml")
      let terminal = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer("kitty.py"), answer] + steps
          + ["--", Programs.wschat, world.relay.url] + arguments,
        environment: [
          "XDG_CONFIG_HOME=\(world.folder["config"])", "XDG_STATE_HOME=\(world.folder["state"])",
          "HOME=\(world.folder.path)", "SWIFT_BACKTRACE=enable=no",
        ], input: "")
      #expect(try terminal.wait() == .exit(0), "\(terminal.errors)")
      return terminal.output.split(separator: "\n").map(String.init)
    }

    /// The first one is the JPEG, whose colours are not exact.
    private static let three = """
      {"images": [[64, 64, [0, 0, 254, 255]], [64, 64, [0, 128, 0, 255]], [64, 64, [255, 0, 0, 255]]], \
      "places": [[4, 2], [4, 2], [4, 2]], "queries": 1,
      """

    private func isThree(_ state: String) -> Bool {
      state.hasPrefix(Self.three.replacing("\n", with: "").replacing("\r", with: ""))
    }

    @Test func `good ones are placed, and the others are initials`() throws {
      let world = try World()
      let states = try terminal(
        world,
        [
          "places:3", "shown:Bomb", "size:90x30", "shown:[2J", "places:3", "type:\\x1bOP",
          "places:0", "type:\\x1b", "places:3", "type:\\x0c", "shown:a=t", "places:3",
          "type:\\x11", "done",
        ])
      #expect(states.count == 14, "\(states)")
      for index in [0, 4, 8, 11] where index < states.count {
        #expect(isThree(states[index]), "\(index): \(states[index])")
      }
      // Nothing is left in the terminal.
      #expect(
        states.last?.hasPrefix(#"{"images": [], "places": [], "queries": 1"#) == true,
        "\(states.last ?? "")")
      // Kept on the disk for the next time, as they are sent, and nothing of the others.
      let listing = try ChildProcess(
        ["find", world.folder["state/wschat/pictures"], "-type", "f", "-printf", "%m %s\n"],
        input: "")
      try listing.wait()
      #expect(listing.output == "600 16384\n600 16384\n600 16384\n")
    }

    @Test func `they come over TLS, with the user's token`() throws {
      let certificates = try Certificates()
      try certificates.use("server", key: "server")
      let secret = "0123456789abcdef0123456789abcdef"
      let world = try World(
        "\(certificates.configuration)\nauth: { mode: jwt, secret: \(secret) }")
      let token = try ChildProcess(
        [Programs.relay, "token", "--user", "ada", "--config", world.folder["relay.yaml"]],
        input: "")
      #expect(try token.wait() == .exit(0), "\(token.errors)")
      let line = token.output.filter { !$0.isWhitespace }
      let states = try terminal(
        world, arguments: ["--ca", certificates.authority, "--token", line],
        ["places:3", "type:\\x11", "done"])
      #expect(states.first.map(isThree) == true, "\(states)")
      // Without its authority there is neither a conversation nor a picture.
      let other = try ChildProcess(
        [
          "/usr/bin/python3", "-B", Programs.peer("kitty.py"), "OK", "done", "--",
          Programs.wschat, world.relay.url, "--token", line,
        ], environment: ["HOME=\(world.folder["other"])"], input: "")
      #expect(try other.wait() == .exit(0), "\(other.errors)")
      #expect(other.output.hasPrefix(#"{"images": [], "places": []"#), "\(other.output)")
    }

    @Test func `they come from the disk when the relay has none any more`() throws {
      let world = try World()
      _ = try terminal(world, ["places:3", "type:\\x11", "done"])
      world.server.write("\n")
      try world.server.wait()
      let states = try terminal(world, ["places:3", "type:\\x11", "done"])
      #expect(isThree(states[0]), "\(states)")
    }

    @Test(arguments: [
      ("none", "", 1), ("ENOTSUP:no", "", 1), ("OK", "pictures: off\n", 0),
    ]) func `a terminal that cannot, or a user who does not want it, has initials`(
      answer: String, configuration: String, queries: Int
    ) throws {
      let world = try World()
      let states = try terminal(
        world, answer: answer, configuration: configuration,
        ["shown:Bomb", "shown:Gus", "type:x", "shown:x", "type:\\x11", "done"])
      for state in states {
        #expect(
          state.hasPrefix(#"{"images": [], "places": [], "queries": \#(queries)"#), "\(state)")
      }
      #expect(!isFolder(world.folder["state/wschat/pictures"]))
    }

    @Test(arguments: [("auto", 2), ("off", 0)])
    func `links are written whole, for a click, and none is left open`(setting: String, count: Int)
      throws
    {
      let world = try World()
      let bo = try RawClient(world.relay, user: "bo")
      let long = "https://example.org/" + String(repeating: "long/", count: 30) + "ä"
      try bo.say("\(long) and http://example.org/ javascript://x/ all", in: "general", id: "1")
      let states = try terminal(
        world, configuration: "links: \(setting)\n",
        arguments: ["--user", "ada", "--room", "general"],
        ["shown:all", "size:60x20", "shown:all", "type:\\x0c", "shown:all", "type:\\x11", "done"])
      #expect(states.count == 7)
      let urls = [
        "http://example.org/",
        "https://example.org/" + String(repeating: "long/", count: 30) + "%C3%A4",
      ].prefix(count).map { "\"\($0)\"" }.joined(separator: ", ")
      for state in [0, 2, 4, 6] where state < states.count {
        #expect(
          states[state].hasSuffix("\"links\": [\(urls)], \"open\": \"\"}"), "\(states[state])")
      }
    }

    @Test func `a JPEG that another client has sent is shown by the relay's thumbnail of it`()
      throws
    {
      let relay = try RelayProcess()
      let home = try TemporaryFolder()
      try run(
        "/usr/bin/python3", "-c",
        "import sys; from PIL import Image; Image.new('RGB', (800, 400), (200, 30, 60)).save(sys.argv[1])",
        home["photo.jpg"])
      let bo = try ChildProcess(
        [
          Programs.wschat, relay.url, "--user", "bo", "--room", "general", "--attach",
          home["photo.jpg"],
        ], environment: ["HOME=\(home["bo"])"], input: "")
      #expect(try bo.wait() == .exit(0), "\(bo.errors)")
      let terminal = try TerminalSession(
        [Programs.wschat, relay.url, "--user", "ada", "--room", "general"], columns: 100,
        environment: ["COLORTERM=truecolor"], in: home)
      try terminal.waitForConversation("General")
      // JPEG and WebP are not exact.
      let isShown = becomesTrue {
        let text = (try? terminal.styledText()) ?? ""
        return text.contains("▀")
          && text.matches(of: /[34]8;2;(\d+);(\d+);(\d+)/).contains {
            (195...205).contains(Int($0.1) ?? 0) && (25...35).contains(Int($0.2) ?? 0)
              && (55...65).contains(Int($0.3) ?? 0)
          }
      }
      let screen = try terminal.screen()
      #expect(isShown, "\(screen)")
    }

    private func isFolder(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
  }
}
