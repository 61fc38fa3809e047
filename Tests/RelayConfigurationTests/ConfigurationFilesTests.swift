import RelayConfiguration
import TestSupport
import Testing
import YAML

@Suite struct `The project's own configuration files` {
  @Test func `config relay yaml holds every key with its default`() throws {
    let file = Project["config/relay.yaml"]
    #expect(try Configuration.load(file: file, environment: [:]) == Configuration())

    let root = try #require(YAMLDocument(try ConfigurationFile.read(file)).root)
    #expect(paths(of: root) == ConfigurationKey.all.map(\.path))
  }

  @Test func `its example of a bot is valid`() throws {
    let text = String(
      decoding: try ConfigurationFile.read(Project["config/relay.yaml"]), as: UTF8.self)
    let example = text.split(separator: "\n").filter { $0.hasPrefix("#   ") }
      .map { $0.dropFirst(4) }
    let bots = try ConfigurationFixture(example.joined(separator: "\n"))
    let loaded = try Configuration.load(file: nil, environment: ["RELAY_BOTS_FILE": bots.path])
    #expect(loaded.bots.map(\.user) == ["guide"])
    #expect(
      loaded.bots[0].script == [.say("hello"), .wait(seconds: 2), .say("how are you?")])

    let keys = try #require(YAMLDocument(try ConfigurationFile.read(bots.path)).root?.list)
    #expect(paths(of: keys[0]) == Configuration.Bot.keys)
  }

  @Test func `the demo has bots of every behaviour, one with two, and an echo`() throws {
    // The demo names the file from the top of the project, where `make run` starts it.
    let demo = try Configuration.load(
      file: Project["config/demo.yaml"],
      environment: ["RELAY_BOTS_FILE": Project["config/bots.yaml"]])
    #expect(demo.listen == "127.0.0.1:8080")
    #expect(demo.rooms.listed.map(\.room) == ["general", "random"])
    #expect(
      Set(demo.bots.flatMap(\.behaviours)) == Set(Configuration.Behaviour.allCases))
    #expect(demo.bots.contains { $0.behaviours.count == 2 })
    let echo = try #require(demo.bots.first { $0.user == "echo" })
    #expect(echo.behaviours == [.echo])
    #expect(echo.typing)
    let metronome = try #require(demo.bots.first { $0.user == "metronome" })
    #expect(metronome.intervalSeconds == 5)
    #expect(metronome.rooms == ["general"])
  }

  @Test(arguments: [
    ("/nowhere/relay.yaml", "cannot be opened: No such file or directory"),
    ("/", "cannot be read: Is a directory"),
  ])
  func `a file that cannot be read is reported`(file: String, found: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration.load(file: file, environment: [:])
    }
    #expect(
      error?.description == "\(file): \(found); use a file that exists and is readable")
  }

  @Test func `an endless file is not read to its end`() {
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration.load(file: "/dev/zero", environment: [:])
    }
    #expect(
      error?.description
        == "/dev/zero: is larger than 1048576 bytes; expected a configuration file")
  }

  private func paths(of node: YAMLNode, in section: String = "") -> [String] {
    guard case .mapping(let pairs) = node.content else { return [] }
    return pairs.flatMap { pair in
      let path = section + pair.key
      let inner = paths(of: pair.value, in: "\(path).")
      return inner.isEmpty ? [path] : inner
    }
  }
}
