import TestSupport
import Testing

extension `End to end` {
  /// Uploads by tus and what is served, against a relay that a script starts.
  @Suite struct `Files over HTTP` {
    static func play(_ name: String, of script: String) throws {
      let peer = try ChildProcess(
        ["/usr/bin/python3", Programs.peer(script), name, Programs.relay], input: "")
      #expect(try peer.wait(Deadline(seconds: 240)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
      print("files, \(name): \(peer.errors)", terminator: "")
    }

    @Test func `uploads obey tus 1.0.0`() throws {
      try Self.play("conformance", of: "file_uploads.py")
    }
    @Test func `tuspy uploads a file, and goes on with it`() throws {
      try Self.play("peer", of: "file_uploads.py")
    }
    @Test func `only those who read the room of a file get it, whole or in parts`() throws {
      try Self.play("serving", of: "file_serving.py")
    }
    @Test func `a picture is decoded and encoded again before it is shown`() throws {
      try Self.play("pictures", of: "file_pictures.py")
    }
    @Test func `two hundred requests for PNGs convert one thumbnail after the other`() throws {
      try Self.play("thumbnails", of: "file_pictures.py")
    }
    @Test func `relay verify reads the bytes of all files`() throws {
      try Self.play("verification", of: "file_commands.py")
    }
    @Test func `the files of a person are exported`() throws {
      try Self.play("export", of: "file_commands.py")
    }
    @Test func `without a relay, an erasure removes a person's files as well`() throws {
      try Self.play("erasure", of: "file_commands.py")
    }
    @Test func `two hundred mutated pictures end no relay, and none is shown as it came`() throws {
      try Self.play("mutations", of: "hostile_pictures.py")
    }
    @Test func `pictures that want too much are not shown, and what is hidden in one is gone`()
      throws
    {
      try Self.play("attacks", of: "hostile_pictures.py")
    }
    @Test func `the place where a picture was taken is in no byte that is served`() throws {
      try Self.play("places", of: "hostile_pictures.py")
    }
    @Test func `a link is good for one file, one user and one minute`() throws {
      try Self.play("links", of: "file_serving.py")
    }
    @Test func `browsers get files at a host of their own, which has nothing else`() throws {
      try Self.play("host", of: "file_serving.py")
    }
    @Test func `the bytes of a file go with its last entry`() throws {
      try Self.play("removal", of: "file_serving.py")
    }
    @Test func `an upload goes on where it was when the relay was killed`() throws {
      try Self.play("killed", of: "file_uploads.py")
    }
    @Test func `a hundred uploads at once are not held in memory`() throws {
      try Self.play("memory", of: "file_uploads.py")
    }
    @Test func `a client that does not read its download is given up`() throws {
      try Self.play("slow", of: "file_serving.py")
    }
    @Test func `an upload that falls silent goes on later`() throws {
      try Self.play("silent", of: "file_uploads.py")
    }
    @Test func `a user who uploads too fast is slowed`() throws {
      try Self.play("paced", of: "file_uploads.py")
    }
    @Test func `users whose uploads are too many together are slowed`() throws {
      try Self.play("paced_together", of: "file_uploads.py")
    }
    @Test func `uploads beyond a limit are refused`() throws {
      try Self.play("limits", of: "file_uploads.py")
    }
    @Test func `a page of an allowed origin uploads, another one does not`() throws {
      try Self.play("pages", of: "file_uploads.py")
    }
  }
  @Suite struct `Measured: the removal of files` {
    @Test func `the bytes of a file go within three seconds of its last entry`() throws {
      try `Files over HTTP`.play("removal_in_time", of: "file_serving.py")
    }
  }
}
