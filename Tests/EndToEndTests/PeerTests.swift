import TestSupport
import Testing

extension `End to end` {
  /// Implementations of RFC 6455 that are not ours.
  @Suite struct `Other WebSocket clients` {
    private func converse(_ interpreter: String, _ script: String, _ environment: [String] = [])
      throws
    {
      let relay = try RelayProcess(`wschat, in lines`.echo)
      let peer = try ChildProcess(
        [interpreter, Programs.peer(script), relay.url], environment: environment, input: "")
      #expect(try peer.wait() == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `Python's websockets has the conversation`() throws {
      // Debian's own interpreter is the one that has Debian's package.
      try converse("/usr/bin/python3", "conversation.py")
    }

    @Test func `Python's websockets gets long messages compressed, beside a client that does not`()
      throws
    {
      try converse("/usr/bin/python3", "compression.py")
    }

    @Test func `aiohttp has the conversation`() throws {
      try converse("/usr/bin/python3", "conversation-aiohttp.py")
    }

    @Test func `Node's ws has the conversation`() throws {
      try converse("/usr/bin/node", "conversation.js", ["NODE_PATH=/usr/share/nodejs"])
    }
  }
}
