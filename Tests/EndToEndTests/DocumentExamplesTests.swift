import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Blocks of code in documents and manuals, run as they are. Changing a document changes the test.
  @Suite struct `Examples in documents` {
    @Test func `there are examples of every kind`() {
      #expect(DocumentBlock.all(.configuration).count >= 3)
      #expect(DocumentBlock.all(.configurations).count >= 1)
      #expect(DocumentBlock.all(.commands).count >= 10)
      #expect(DocumentBlock.all(.terminal).count >= 3)
    }

    // MARK: Configurations

    private func check(_ yaml: String) throws {
      let examples = try ExampleFolder(hasRelay: false)
      try examples.folder.write(yaml, to: "relay.yaml")
      let check = try examples.start("relay", "check-config", "--config", "relay.yaml")
      #expect(try check.wait() == .exit(0), "\(check.errors)")
    }

    @Test(arguments: DocumentBlock.all(.configuration))
    func `a configuration is valid`(block: DocumentBlock) throws { try check(block.staged) }

    @Test(arguments: DocumentBlock.all(.configurations))
    func `each of several configurations is valid`(block: DocumentBlock) throws {
      for line in block.lines { try check(line + "\n") }
    }

    @Test func `the bot in the comments of config/relay.yaml is valid`() throws {
      let lines = try readFile(Project["config/relay.yaml"]).split(separator: "\n")
      let bot = lines.drop { !$0.hasPrefix("#   - user: ") }.prefix { $0.hasPrefix("#   ") }
      #expect(bot.count > 10)
      try check("bots:\n" + bot.map { $0.dropFirst() + "\n" }.joined())
    }

    // MARK: Commands

    /// `relay serve` runs in the background, on a free port, until the commands have ended.
    private static let prelude = """
      relay() {
        [ "$1" = serve ] || { command relay "$@"; return; }
        setpriv --pdeathsig KILL relay "$@" --listen 127.0.0.1:0 2>serve.log &
        trap "kill $! || true; wait $! || true" EXIT
        until grep -q 'listening on' serve.log; do
          kill -0 $! || { cat serve.log >&2; exit 1; }
          sleep 0.05
        done
        WSCHAT_URL=$(sed -n 's/.*listening on //p' serve.log)
        export WSCHAT_URL
      }

      """

    /// The block as a script. `wschat --follow` has no end of its own: its first line is enough.
    private func script(_ block: DocumentBlock) -> String {
      let commands = block.commands.map { command in
        if command.hasPrefix("relay serve "), command.hasSuffix(" &") {
          return String(command.dropLast(2))
        }
        return command.contains(" --follow") ? command + " | head -n 1" : command
      }
      let stage = block.staged.split(separator: "\n", omittingEmptySubsequences: false)
        .dropLast(block.lines.count + 1)
      return Self.prelude + (stage.map(String.init) + commands).joined(separator: "\n") + "\n"
    }

    @Test(arguments: DocumentBlock.all(.commands))
    func `commands succeed`(block: DocumentBlock) throws {
      let examples = try ExampleFolder(
        hasRelay: !block.commands.contains { $0.hasPrefix("relay serve") })
      try examples.folder.write(examples.addressed(script(block)), to: "example.sh")
      let shell = try examples.start("sh", "-eu", "example.sh")
      #expect(try shell.wait() == .exit(0), "\(shell.output)\(shell.errors)")

      // Comments such as `# 200: the process runs` name the status that curl gets.
      let comments: [Substring] = block.lines.compactMap { line in
        line.firstRange(of: " # ").map { line[$0.upperBound...] }
      }
      let documented: [Substring] = comments.map { $0.prefix { $0.isNumber } }.filter {
        $0.count == 3
      }
      let statuses: [Substring] = shell.errors.split(separator: "\n").filter { $0.count == 3 }
      #expect(statuses.prefix(documented.count) == documented[...], "\(shell.errors)")
      // JSON is messages of relay.v1.
      for line in shell.output.split(separator: "\n") where line.hasPrefix("{\"type\"") {
        #expect(throws: Never.self, "\(line)") {
          try ServerMessage(decoding: Array(line.utf8).span)
        }
      }
    }

    @Test(arguments: DocumentBlock.all(.terminal))
    func `commands on a terminal show a chat`(block: DocumentBlock) throws {
      let examples = try ExampleFolder()
      for command in block.commands {
        let terminal = try TerminalSession(
          examples.env + ["sh", "-c", "exec \(command)"], columns: 120)
        try terminal.wait(for: "connection of \(command)") { $0.isConnected }
        if command.contains("--to echo") {
          try terminal.waitForConversation("Echo")
          try terminal.type("hello")
          try terminal.press("Enter")
          try terminal.wait(for: "text and its echo") { $0.messages(with: "hello").count == 2 }
        }
        try terminal.press("C-c")
        #expect(try terminal.waitForExit() == .exit(0), "\(command)")
      }
    }

    // MARK: Programs of docs/protocol.md

    @Test func `the program in Python shows the answer of the bot`() throws {
      let examples = try ExampleFolder()
      let block = try Document("docs/protocol.md").block(in: "python")
      try examples.folder.write(examples.addressed(block.staged), to: "example.py")
      let program = try examples.start("/usr/bin/python3", "example.py")
      try program.waitForOutput { $0.contains(#""from":"echo""#) }
    }

    /// Node has `console.log` like a browser, and takes WebSocket from the package ws.
    @Test func `the lines for a browser's console show the answer to a join`() throws {
      let examples = try ExampleFolder()
      let block = try Document("docs/protocol.md").block(in: "js")
      try examples.folder.write(
        "WebSocket = require('ws')\n" + examples.addressed(block.staged), to: "example.js")
      let program = try examples.start("/usr/bin/node", "example.js")
      try program.waitForOutput { $0.contains(#""type":"joined","room":"general""#) }
    }
  }
}
