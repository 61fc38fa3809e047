import Glibc
import TestSupport
import Testing

extension `End to end` {
  /// The tests of Sources/JavaScript, which are in JavaScript: Tests/JavaScript, beside a relay that they
  /// start.
  @Suite(.serialized) struct `The JavaScript library` {
    @Test(arguments: JavaScriptTest.inNode)
    func `passes its tests`(test: JavaScriptTest) throws { try test.run() }

    @Test func `has no test that is not run`() throws {
      let files = try fileNames(in: Project["Tests/JavaScript"]).filter { $0.hasSuffix(".test.js") }
      #expect(
        Set(files) == Set((JavaScriptTest.inNode + JavaScriptTest.inChromium).map(\.file)))
    }
  }

  /// Several at once would wait for each other's browsers.
  @Suite(.serialized) struct `The JavaScript library in Chromium` {
    @Test(arguments: JavaScriptTest.inChromium)
    func `passes its tests`(test: JavaScriptTest) throws { try test.run() }
  }

  @Suite struct `Measured: the JavaScript library` {
    @Test func `loses nothing over 30 kills of the relay, and of its programs and pages`() throws {
      try JavaScriptTest(file: "chaos.test.js").run(environment: ["KILLS=30"])
    }
  }
}

/// A file of Tests/JavaScript.
struct JavaScriptTest: CustomTestStringConvertible {
  let file: String

  var testDescription: String { file }

  static let inNode = [
    "account", "backlog", "blocks", "changes", "closing", "documents", "files", "ladder", "library",
    "lint",
    "members",
    "outbox", "page", "pauses", "react", "resume", "rooms", "sound-samples",
  ].map { JavaScriptTest(file: "\($0).test.js") }
  static let inChromium = ["browser", "chaos", "page-files", "reload"].map {
    JavaScriptTest(file: "\($0).test.js")
  }

  func run(environment: [String] = []) throws {
    let node = try ChildProcess(
      ["/usr/bin/node", "--test", Project["Tests/JavaScript/\(file)"]],
      environment: ["NODE_PATH=/usr/share/nodejs", "RELAY=\(Programs.relay)"] + environment,
      input: "")
    let outcome = try node.wait(Deadline(seconds: 300))
    guard outcome == .exit(0) else {
      throw Unexpected("\(file): \(outcome): \(node.output)\(node.errors)")
    }
  }
}
