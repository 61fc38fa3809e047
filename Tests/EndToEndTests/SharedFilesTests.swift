import TestSupport
import Testing

extension `End to end` {
  /// Files of several relays, with their bytes in a bucket, as `shared_files.py` plays.
  @Suite struct `Files of several relays` {
    private func play(_ name: String) throws {
      let server = try PostgresServer(settings: ["fsync=off"])
      let peer = try ChildProcess(
        [
          "/usr/bin/python3", "-B", Programs.peer("shared_files.py"), name, Programs.relay,
          server.url,
        ],
        input: "")
      #expect(try peer.wait(Deadline(seconds: 240)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }

    @Test
    func `a file is stored at one, sent at another, read at a third, and gone with its entry`()
      throws
    {
      try play("shared")
    }
    @Test func `an upload goes on at another one when its relay is killed in a request`() throws {
      try play("moved")
    }
    @Test
    func `a relay that was frozen adds nothing to an upload that goes on at another one`() throws {
      try play("frozen")
    }
    @Test func `bytes that the log never knew go after a day`() throws {
      try play("orphans")
    }
    @Test func `a file that is too large for one request to the bucket is stored in parts`() throws
    {
      try play("large")
    }
    @Test func `relay verify and relay export read the bucket`() throws {
      try play("commands")
    }
    @Test func `moto's server, another implementation of S3, is a bucket for relays`() throws {
      try play("moto")
    }
    @Test func `a bucket that fails holds up files, and nothing else`() throws {
      try play("down")
    }
    @Test func `requests that wait for a bucket that does not answer have a limit`() throws {
      try play("waiting")
    }
  }
}
