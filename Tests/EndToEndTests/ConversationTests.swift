import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `A conversation` {
    @Test
    func
      `two devices of one user and one of another see each other, also after a SIGKILL`()
      throws
    {
      let relay = try RelayProcess("limits: { requests_per_s: 0 }")
      func run(_ arguments: String...) throws -> String {
        let peer = try ChildProcess(
          ["/usr/bin/python3", Programs.peer("devices.py"), relay.url] + arguments, input: "")
        #expect(try peer.wait() == .exit(0), "\(peer.errors)")
        return peer.output
      }
      let state = try run("before")
      try relay.kill()
      try relay.start()
      #expect(try run("after", state) == "good\n")
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `"build-4711" twice with other text is refused and the first stays`() throws {
      let relay = try RelayProcess()
      let ada = try RawClient(relay, user: "ada")
      #expect(try ada.say("passed", in: "builds", id: "build-4711").seq == 1)
      func sendAgain(_ text: String) throws -> WireError {
        try ada.send(.send(.init(room: "builds", id: "build-4711", text: text)))
        return try ada.error()
      }
      let refused = try sendAgain("failed")
      #expect(refused.code == .idConflict)
      #expect(refused.re == .send)
      #expect(refused.room == "builds")
      #expect(refused.id == "build-4711")
      #expect(refused.seq == 1)
      try relay.kill()
      try relay.start()
      let again = try RawClient(relay, user: "ada")
      #expect(try again.say("passed", in: "builds", id: "build-4711").duplicate)
      #expect(try again.everything(in: "builds").map(\.text) == ["passed"])
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `a deleted text is in no read, no export, and no file`() throws {
      let relay = try RelayProcess()
      let ada = try RawClient(relay, user: "ada")
      let secret = "the-word-that-must-not-be-found"
      try ada.say(secret, in: "r", id: "1")
      try ada.send(
        #"{"type":"send","room":"r","id":"2","kind":"edit","target":1,"text":"x\#(secret)"}"#)
      #expect(try ada.ack().seq == 2)
      try ada.send(#"{"type":"send","room":"r","id":"3","kind":"delete","target":1}"#)
      #expect(try ada.ack().seq == 3)
      let bo = try RawClient(relay, user: "bo")
      #expect(try bo.everything(in: "r").map { $0.text ?? "-" } == ["", "", "-"])
      #expect(try relay.stop() == .exit(0))
      let export = try RelayProcess.command("export", "--data", relay.dataFolder)
      #expect(export.output.split(separator: "\n").count { !$0.contains(#""type":"marks""#) } == 3)
      #expect(!export.output.contains(secret))
      let grep = try ChildProcess(
        ["grep", "--recursive", "--text", "--count", secret, relay.dataFolder], input: "")
      // grep ends with 1 where it finds nothing.
      #expect(try grep.wait() == .exit(1), "\(grep.output)")
      let verify = try RelayProcess.command("verify", "--data", relay.dataFolder)
      #expect(try verify.wait() == .exit(0), "\(verify.errors)")
      let target = try TemporaryFolder()
      let imported = try ChildProcess(
        [Programs.relay, "import", "--data", target["copy"]], input: export.output)
      #expect(try imported.wait() == .exit(0), "\(imported.errors)")
      let copy = try RelayProcess.command("verify", "--data", target["copy"])
      #expect(try copy.wait() == .exit(0), "\(copy.errors)")
    }

    @Test func `a reference to an entry that does not exist is refused, and nothing is stored`()
      throws
    {
      let relay = try RelayProcess()
      let (ada, bo) = (try RawClient(relay, user: "ada"), try RawClient(relay, user: "bo"))
      try ada.say("mine", in: "r", id: "1")
      try ada.say("between us", in: "dm:ada:cy", id: "1")
      for (json, code) in [
        (#""id":"a","kind":"edit","target":1,"text":"no""#, .forbidden),
        (#""id":"b","kind":"delete","target":1"#, .forbidden),
        (#""id":"c","kind":"react","target":7,"emoji":"👍","on":true"#, .noSuchEntry),
        (#""id":"d","text":"to what?","reply_to":9"#, .noSuchEntry),
        (#""id":"e","forward":{"room":"dm:ada:cy","seq":1}"#, .forbidden),
        (#""id":"f","forward":{"room":"r","seq":7}"#, .noSuchEntry),
      ] as [(String, ErrorCode)] {
        try bo.send(#"{"type":"send","room":"r",\#(json)}"#)
        #expect(try bo.error().code == code, "\(json)")
      }
      #expect(try bo.say("next", in: "r", id: "g").seq == 2)
      #expect(try relay.stop() == .exit(0))
    }
  }
}
