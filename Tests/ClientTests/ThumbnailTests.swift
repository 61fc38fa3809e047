import Client
import TestSupport
import Testing

/// The pictures of files on the screen of wschat, on a terminal that answers as kitty does, or not.
@Suite struct `Thumbnails in wschat` {
  /// What the terminal has when all steps are done.
  private func terminal(
    _ relay: FileRelay, _ answer: String, _ steps: [String], configuration: String = ""
  ) throws -> [String] {
    let home = try TemporaryFolder()
    try home.write("x", to: "photo.png")
    try home.write(configuration, to: "config/wschat/config.yaml")
    let terminal = try ChildProcess(
      [
        "/usr/bin/python3", "-B", Project["Tests/EndToEndTests/Peers/kitty.py"], answer,
        "shown:connected", "type:/send ~/photo.png", "shown:photo", "type:\\r",
      ] + steps + ["type:\\x11", "done", "--", Programs.path(of: "wschat")]
        + ["\(relay.configuration.url)", "--token", "secret", "--room", "den"],
      environment: [
        "XDG_CONFIG_HOME=\(home["config"])", "XDG_STATE_HOME=\(home["state"])",
        "HOME=\(home.path)", "SWIFT_BACKTRACE=enable=no",
      ], input: "")
    #expect(try terminal.wait() == .exit(0), "\(terminal.errors)")
    return terminal.output.split(separator: "\n").map(String.init)
  }

  @Test func `are sent once and placed row by row; what covers them takes them away`() throws {
    let relay = try FileRelay()
    let states = try terminal(
      relay, "OK", ["places:2", "type:\\x1bOP", "places:0", "type:\\x1b", "places:2"])
    // 64 by 32 pixels are six columns and two rows.
    let one = #"{"images": [[60, 40, [255, 0, 0, 255]]], "places": [[6, 1], [6, 1]],"#
    #expect(states.count { $0.hasPrefix(one) } >= 2, "\(states)")
    #expect(states.last?.hasPrefix(#"{"images": [], "places": []"#) == true, "\(states)")
    let requests = relay.seen().filter { $0.contains("/thumbnail") }
    #expect(requests == ["GET /under/v1/files/file-1/thumbnail Bearer secret"])
  }

  @Test func `are sixels on a terminal that has them and tells the size of its cells`() throws {
    // In each strip of 20 rows there are 60 red columns.
    let states = try terminal(
      try FileRelay(), "sixel", ["shown:\\x1bP0;1q\"1;1;60;20#180;2;100;0;0#180!60~$-"])
    #expect(states.last?.hasPrefix(#"{"images": [], "places": []"#) == true, "\(states)")
  }

  @Test func `are half blocks on another terminal`() throws {
    let states = try terminal(try FileRelay(), "none", ["shown:38;2;255;0;0;48;2;255;0;0m▀"])
    #expect(states.last?.hasPrefix(#"{"images": [], "places": []"#) == true, "\(states)")
  }

  @Test func `are not asked for if the user wants none`() throws {
    let relay = try FileRelay()
    _ = try terminal(relay, "OK", ["shown:1 bytes"], configuration: "pictures: off\n")
    #expect(relay.seen().allSatisfy { !$0.contains("/thumbnail") })
  }

  @Test func `that did not come are asked for again after a reconnection`() throws {
    let relay = try FileRelay(faults: ["GET 503"])
    let states = try terminal(
      relay, "OK", ["shown:1 bytes", "type:/reconnect", "shown:reconnect", "type:\\r", "places:2"])
    #expect(
      states.contains { $0.hasPrefix(#"{"images": [[60, 40, [255, 0, 0, 255]]]"#) }, "\(states)")
    #expect(relay.seen().count { $0.contains("/thumbnail") } == 2)
  }

  @Test(arguments: [
    "GET 404", "GET 500 detail=no", "GET cut=10", "GET not-png", "GET huge-png", "GET endless",
  ])
  func `that are missing or hostile leave their place blank`(fault: String) throws {
    let relay = try FileRelay(faults: [fault])
    let states = try terminal(
      relay, "OK", ["shown:1 bytes", "type:still here", "shown:here"])
    #expect(states.count == 9, "\(states)")
    #expect(states.allSatisfy { $0.hasPrefix(#"{"images": [], "places": []"#) }, "\(states)")
  }
}
