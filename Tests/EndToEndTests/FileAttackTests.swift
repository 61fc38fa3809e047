import TestSupport
import Testing

extension `End to end` {
  /// The worst user, at `/v1/files`: what they can ask for is bounded, and costs themselves.
  @Suite struct `Files under attack` {
    private func play(_ name: String) throws {
      try `Files over HTTP`.play(name, of: "file_attacks.py")
    }

    @Test func `whatever number an upload names, it is refused or right`() throws {
      try play("headers")
    }
    @Test func `a path that leads elsewhere names no file`() throws { try play("names") }
    @Test func `no range gets more than the file`() throws { try play("ranges") }
    @Test func `tiny files fill a limit of bytes, each as a block of the disk`() throws {
      try play("tiny")
    }
    @Test func `uploads and entries at the same time stay within a limit together`() throws {
      try play("races")
    }
    @Test func `floods of requests are answered at the rate of their user or address`() throws {
      try play("floods")
    }
    @Test func `content without its checksum leaves nothing on the disk`() throws {
      try play("checksums")
    }
    @Test func `uploads that break off in their first request block no others`() throws {
      try play("broken")
    }
    @Test func `pictures that take long hold up the uploads of their own user only`() throws {
      try play("turns")
    }
    @Test func `a user who was banned gets no byte of a file, by no link either`() throws {
      try play("banned")
    }
    @Test func `a file that thousands of entries name goes with the last one`() throws {
      try play("named")
    }
  }
}
