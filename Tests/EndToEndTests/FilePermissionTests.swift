import TestSupport
import Testing

extension `End to end` {
  @Suite struct `Files of a relay` {
    @Test func `every file in the data folder is for its owner only, whatever was there before`()
      throws
    {
      let folder = try TemporaryFolder()
      let relay = try RelayProcess(
        in: folder, under: ["sh", "-c", #"umask 0; mkdir -p "$0"; exec "$@""#, folder["data"]])
      #expect(relay.process.errors.contains("(mode 777)"))
      try check(folder)
      // As an older relay has left them.
      try relay.kill()
      try run("chmod", "-R", "a+rX", folder["data"])
      try relay.start()
      #expect(relay.process.errors.contains("(mode 755)"))
      try RawClient(relay, user: "ada").say("private", in: "dm:ada:bo", id: "1")
      try check(folder)
      #expect(try relay.stop() == .exit(0))
      try check(folder)
    }

    private func check(_ folder: TemporaryFolder) throws {
      #expect(try folder.permissions(of: "data") == 0o700)
      let names = try fileNames(in: folder["data"])
      #expect(names.contains("relay.db"))
      for name in names + ["files/link.key"] {
        guard let permissions = try? folder.permissions(of: "data/\(name)") else {
          // It was there until it replaced another one.
          #expect(try !fileNames(in: folder["data"]).contains(name))
          continue
        }
        #expect(permissions == (name == "files" ? 0o700 : 0o600), "\(name)")
      }
    }

    @Test func `a folder with files of something else that others can read is refused`() throws {
      let folder = try TemporaryFolder()
      try folder.write("", to: "home/letter")
      try run("chmod", "755", folder["home"])
      let relay = try RelayProcess.command(
        "serve", "--listen", "127.0.0.1:0", "--data", folder["home"])
      #expect(try relay.wait() == .exit(1))
      #expect(relay.errors.contains("Use a folder for the relay alone"))
      #expect(try folder.permissions(of: "home") == 0o755)
    }
  }
}
