import TestSupport
import Testing

extension `End to end` {
  /// Uploads by tus and what is served, against a relay that `files.py` starts.
  @Suite struct `Files over HTTP` {
    static func play(_ name: String, of script: String) throws {
      let peer = try ChildProcess(
        ["/usr/bin/python3", Programs.peer(script), name, Programs.relay], input: "")
      #expect(try peer.wait(Deadline(seconds: 240)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
      print("files, \(name): \(peer.errors)", terminator: "")
    }

    private func play(_ name: String, of script: String = "files.py") throws {
      try Self.play(name, of: script)
    }

    @Test func `uploads obey tus 1.0.0`() throws { try play("conformance") }
    @Test func `tuspy uploads a file, and goes on with it`() throws { try play("peer") }
    @Test func `only those who read the room of a file get it, whole or in parts`() throws {
      try play("serving")
    }
    @Test func `a picture is decoded and encoded again before it is shown`() throws {
      try play("pictures")
    }
    @Test func `two hundred requests for PNGs convert one thumbnail after the other`() throws {
      try play("thumbnails")
    }
    @Test func `relay verify reads the bytes of all files`() throws {
      try play("verification", of: "file_commands.py")
    }
    @Test func `the files of a person are exported`() throws {
      try play("export", of: "file_commands.py")
    }
    @Test func `two hundred mutated pictures end no relay, and none is shown as it came`() throws {
      try play("mutations", of: "hostile_pictures.py")
    }
    @Test func `pictures that want too much are not shown, and what is hidden in one is gone`()
      throws
    {
      try play("attacks", of: "hostile_pictures.py")
    }
    @Test func `the place where a picture was taken is in no byte that is served`() throws {
      try play("places", of: "hostile_pictures.py")
    }
    @Test func `a link is good for one file, one user and one minute`() throws {
      try play("links")
    }
    @Test func `browsers get files at a host of their own, which has nothing else`() throws {
      try play("host")
    }
    @Test func `the bytes of a file go within three seconds of its last entry`() throws {
      try play("removal")
    }
    @Test func `an upload goes on where it was when the relay was killed`() throws {
      try play("killed")
    }
    @Test func `a hundred uploads at once are not held in memory`() throws { try play("memory") }
    @Test func `a client that does not read its download is given up`() throws {
      try play("slow")
    }
    @Test func `an upload that falls silent goes on later`() throws { try play("silent") }
    @Test func `a user who uploads too fast is slowed`() throws { try play("paced") }
    @Test func `uploads beyond a limit are refused`() throws { try play("limits") }
    @Test func `a page of an allowed origin uploads, another one does not`() throws {
      try play("pages")
    }
  }
}
