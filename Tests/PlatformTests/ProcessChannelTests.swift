import Glibc
import Platform
import TestSupport
import Testing

@Suite struct `A channel between processes` {
  private let folder: TemporaryFolder

  /// That of a folder that is gone may be in use a moment longer, in a process that another test is starting; a
  /// later folder may have its inode, and so its socket.
  private let name: String

  init() throws {
    folder = try TemporaryFolder()
    name = String(folder.path.split(separator: "/").last ?? "")
  }

  /// Calls the body with both ends.
  private func withPair(
    _ body: (borrowing ProcessChannel, consuming ProcessChannel) throws -> Void
  ) throws {
    let listener = try Listener.claim(forFolder: folder.path, name: name)
    let client = try ProcessChannel.connect(forFolder: folder.path, name: name)
    guard case .socket(let socket, _) = listener.accept() else { throw Unexpected("nobody came") }
    try body(client, ProcessChannel(socket))
  }

  @Test func `carries texts and descriptors, which are the same open files`() throws {
    try withPair { one, other in
      try folder.write("content", to: "file")
      let file = unsafe open(folder["file"], O_RDONLY)
      defer { close(file) }
      try one.send("hello", [file, file])
      let received = other.receive(timeoutMilliseconds: 1000)
      let message = try #require(received)
      #expect(message.text == "hello")
      #expect(message.descriptors.count == 2)
      var buffer = [UInt8](repeating: 0, count: 7)
      for (descriptor, expected) in zip(message.descriptors, [7, 0]) {
        // Both read at one position.
        #expect(unsafe read(descriptor, &buffer, buffer.count) == expected)
        #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
        close(descriptor)
      }
      #expect(buffer == Array("content".utf8))
      try other.send("thanks")
      let thanks = one.receive(timeoutMilliseconds: 1000)
      #expect(thanks?.text == "thanks")
    }
  }

  @Test func `carries as many descriptors as it may, and refuses more`() throws {
    try withPair { one, other in
      let limit = ProcessChannel.descriptorsLimit
      try one.send("many", Array(repeating: one.descriptor, count: limit))
      let received = other.receive(timeoutMilliseconds: 1000)
      let message = try #require(received)
      #expect(message.descriptors.count == limit)
      for descriptor in message.descriptors { close(descriptor) }
      do throws(SystemError) {
        try one.send("more", Array(repeating: one.descriptor, count: limit + 1))
        Issue.record("more descriptors than a message can have were sent")
      } catch {
        #expect(error.code == EINVAL)
      }
    }
  }

  @Test func `tells nothing in time, and the end of the other process`() throws {
    try withPair { one, other in
      let early = one.receive(timeoutMilliseconds: 1)
      #expect(early == nil)
      _ = consume other
      let end = one.receive(timeoutMilliseconds: 1000)
      #expect(end == nil)
    }
  }

  @Test func `leaves no file in the folder that it belongs to, and is that folder's alone`() throws
  {
    let other = try TemporaryFolder()
    try withPair { one, _ in
      let isOwn = one.isOfThisUser
      #expect(isOwn)
      let files = try fileNames(in: folder.path)
      #expect(files.isEmpty)
      let path = other.path
      do throws(SystemError) {
        _ = try ProcessChannel.connect(forFolder: path, name: name)
        Issue.record("connected")
      } catch {
        #expect(error.code == ECONNREFUSED)
      }
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
  func `knows a process of another user`() throws {
    let listener = try Listener.claim(forFolder: folder.path, name: name)
    let script = """
      import os, socket, sys
      folder = os.stat(sys.argv[1])
      peer = socket.socket(socket.AF_UNIX)
      os.setuid(65534)
      peer.connect("\\0%s-%x-%x" % (sys.argv[2], folder.st_dev, folder.st_ino))
      sys.stdin.read()
      """
    let stranger = try ChildProcess(["python3", "-c", script, folder.path, name])
    var found: Bool?
    #expect(
      becomesTrue {
        guard case .socket(let socket, _) = listener.accept() else { return false }
        found = ProcessChannel(socket).isOfThisUser
        return true
      })
    #expect(found == false)
    stranger.signal(SIGTERM)
    try stranger.wait()
  }

  @Test func `is refused where none listens`() throws {
    let path = folder.path
    do throws(SystemError) {
      _ = try ProcessChannel.connect(forFolder: path, name: name)
      Issue.record("connected")
    } catch {
      #expect(error.code == ECONNREFUSED)
    }
  }
}
