import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `Two relays` {
    @Test func `on the same port: the second ends with 4, the first is unharmed`() throws {
      let first = try RelayProcess()
      let client = try RawClient(first, user: "ada")
      let second = try RelayProcess.command(
        "serve", "--listen", "127.0.0.1:\(first.port)", "--data", first.folder["other"])
      #expect(try second.wait() == .exit(4))
      #expect(
        second.errors.contains(
          "Cannot listen on 127.0.0.1:\(first.port): the port is in use, perhaps by another relay.")
      )
      #expect(try client.say("still there", in: "general", id: "1").seq == 1)
      // A listener that shares the port would take some of these.
      for number in 0..<16 {
        #expect(try RawClient(first, user: "u\(number)").history("general").head == 1)
      }
      #expect(try first.stop() == .exit(0))
    }

    @Test func `on the same data: the second ends with 4, the first is unharmed`() throws {
      let first = try RelayProcess()
      let client = try RawClient(first, user: "ada")
      try client.say("one", in: "general", id: "1")
      let second = try RelayProcess.command(
        "serve", "--listen", "127.0.0.1:0", "--data", first.dataFolder)
      #expect(try second.wait() == .exit(4))
      #expect(
        second.errors.contains(
          "The data folder \(first.dataFolder) is in use by another process."))
      #expect(!second.errors.contains("listening"))
      #expect(try client.say("two", in: "general", id: "2").seq == 2)
      try first.kill()
      // The lock of a killed process is released.
      try first.start()
      #expect(try RawClient(first, user: "ada").history("general").head == 2)
    }
  }
}
