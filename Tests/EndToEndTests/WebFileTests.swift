import TestSupport
import Testing

extension `End to end` {
  /// The web page with files: `web_files.py` plays the cases.
  @Suite struct `The web page with files` {
    private func play(_ name: String) throws {
      try `The web page`().play(name, of: "web_files.py")
    }

    @Test func `sends a file with a caption, which is answered, edited and deleted`() throws {
      try play("sent")
    }

    @Test func `goes on with an upload over a kill of the relay and a reload`() throws {
      try play("killed")
    }

    @Test func `plays sound, and shows its waveform`() throws { try play("heard") }

    @Test func `gets files from their own host, some at a time, and renews addresses that expire`()
      throws
    {
      try play("hosted")
    }
  }

  @Suite struct `Measured: the web page with files` {
    @Test func `shows a room of 100 pictures without losing frames, and moves nothing`() throws {
      try `The web page`().play("album", of: "web_files.py")
    }
  }
}
