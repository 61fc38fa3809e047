import Glibc
import Platform
import TestSupport
import Testing

@Suite struct `A socket` {
  @Test func `bytes go both ways, then the end`() throws {
    let pair = try SocketPair()
    guard case .sent(5) = pair.client.send(Array("hello".utf8).span) else {
      Issue.record("not sent")
      return
    }
    #expect(pair.server.borrowed.readAll(upTo: 5) == Array("hello".utf8))

    var buffer = [UInt8](repeating: 0, count: 8)
    var span = buffer.mutableSpan
    guard case .wouldBlock = pair.server.read(into: &span) else {
      Issue.record("there is nothing to read")
      return
    }
    pair.client.shutdownWrite()
    #expect(pair.server.borrowed.readAll() == [])
    guard case .end = pair.server.read(into: &span) else {
      Issue.record("not the end")
      return
    }
  }

  @Test func `bytes that were looked at can be read`() throws {
    let pair = try SocketPair()
    _ = pair.client.send(Array("hello".utf8).span)
    var buffer = [UInt8](repeating: 0, count: 3)
    #expect(becomes(POLLIN, pair.server.descriptor))
    for _ in 0..<2 {
      var span = buffer.mutableSpan
      guard case .bytes(3) = pair.server.borrowed.peek(into: &span) else {
        Issue.record("three bytes fit")
        return
      }
      #expect(buffer == Array("hel".utf8))
    }
    #expect(pair.server.borrowed.readAll(upTo: 5) == Array("hello".utf8))
  }

  @Test func `small writes leave immediately, on connected and on accepted sockets`() throws {
    let pair = try SocketPair()
    #expect(pair.client.borrowed.sendsAtOnce)
    #expect(pair.server.borrowed.sendsAtOnce)
  }

  @Test func `both ends know each other`() throws {
    let pair = try SocketPair()
    #expect(try pair.client.peerAddress() == pair.server.localAddress())
    #expect(try pair.server.peerAddress() == pair.client.localAddress())
  }

  @Test func `a connection has the source address that it was given`() throws {
    let listener = try Listener.claim(Address("127.0.0.1:0"))
    let client = try Socket.connect(to: listener.address, from: Address("127.0.0.3:0"))
    let server = try accept(from: listener)
    #expect(try server.peerAddress().host == "127.0.0.3")
    #expect(try server.peerAddress() == client.localAddress())
    #expect(throws: SystemError("bind 192.0.2.7", code: EADDRNOTAVAIL)) {
      _ = try Socket.connect(to: listener.address, from: Address("192.0.2.7:0")).release()
    }
  }

  @Test func `connecting to a port without a listener fails when it finishes`() throws {
    let address: Address
    do {
      let listener = try Listener.claim(Address("127.0.0.1:0"))
      address = listener.address
    }
    do {
      let socket = try Socket.connect(to: address)
      #expect(becomes(POLLOUT, socket.descriptor))
      #expect(throws: SystemError("connect", code: ECONNREFUSED)) {
        try socket.borrowed.finishConnecting()
      }
    } catch {
      // On loopback the kernel may know immediately.
      #expect(error.code == ECONNREFUSED)
    }
  }

  @Test func `sending to a peer that is gone is an error and not a signal`() throws {
    let pair = try SocketPair()
    let server = pair.server.borrowed
    let client = pair.client.release()
    Socket(owning: client).abort()
    #expect(becomes(POLLHUP, server.descriptor))
    guard case .failed(let first) = server.send([1].span) else {
      Issue.record("sent to nobody")
      return
    }
    #expect(first.code == ECONNRESET || first.code == EPIPE)
    guard case .failed(let second) = server.send([1].span) else {
      Issue.record("sent to nobody")
      return
    }
    #expect(second.code == EPIPE)
  }

  @Test func `a socket closes its descriptor when it is destroyed, unless released`() throws {
    let pair = try SocketPair()
    let kept = dup(pair.client.descriptor)
    do {
      let socket = Socket(owning: kept)
      #expect(socket.release() == kept)
    }
    #expect(fcntl(kept, F_GETFD) == FD_CLOEXEC || fcntl(kept, F_GETFD) == 0)
    close(kept)
    let client = pair.client.release()
    do { _ = Socket(owning: client) }
    // The peer sees the end: this is certain, whatever gets the number next.
    #expect(pair.server.borrowed.readAll() == [])
    var buffer: [UInt8] = [0]
    var span = buffer.mutableSpan
    guard case .end = pair.server.read(into: &span) else {
      Issue.record("still open")
      return
    }
  }
}
