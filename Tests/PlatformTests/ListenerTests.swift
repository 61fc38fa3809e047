import Glibc
import Platform
import TestSupport
import Testing

@Suite struct `A listener` {
  private func loopback(_ port: UInt16 = 0) throws -> Address {
    try Address("127.0.0.1:\(port)")
  }

  private func refusal(of address: Address) -> SystemError? {
    do {
      _ = try Listener.claim(address)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a port that another process uses cannot be claimed, although the port is shared`()
    throws
  {
    var first = try Listener.claim(loopback())
    #expect(first.address.port != 0)
    #expect(refusal(of: first.address)?.code == EADDRINUSE)
    let second = try first.sibling()
    #expect(second.address == first.address)
    #expect(refusal(of: first.address)?.code == EADDRINUSE)
    let third = try first.sibling()
    #expect(third.address == first.address)
    #expect(
      refusal(of: first.address)?.description
        == "bind \(first.address): Address already in use")
    // Nor on all addresses together.
    let everywhere = try Address("0.0.0.0:\(first.address.port)")
    #expect(refusal(of: everywhere)?.code == EADDRINUSE)
  }

  @Test func `one of several that claim a port simultaneously gets it`() throws {
    let address: Address
    do {
      let probe = try Listener.claim(loopback())
      address = probe.address
    }
    let outcomes = try Mailbox<Bool>()
    let done = try Mailbox<Void>()
    let release = try EventDescriptor()
    let gate = release.descriptor
    for _ in 0..<8 {
      _ = try WorkerThread(name: "claimer") {
        do {
          let listener = try Listener.claim(address)
          outcomes.post(true)
          _ = becomes(POLLIN, gate)
          _ = listener.address
        } catch {
          outcomes.post(false)
        }
        done.post(())
      }
    }
    var all: [Bool] = []
    var batch: [Bool] = []
    while all.count < 8, outcomes.wait(timeoutMilliseconds: 10_000) {
      outcomes.drain(into: &batch)
      all += batch
    }
    #expect(all.filter { $0 }.count == 1)
    #expect(all.count == 8)
    release.signal()
    var finished = 0
    var ends: [Void] = []
    while finished < 8, done.wait(timeoutMilliseconds: 10_000) {
      done.drain(into: &ends)
      finished += ends.count
    }
  }

  @Test func `a port is free again as soon as its listeners are gone`() throws {
    let address: Address
    do {
      let listener = try Listener.claim(loopback())
      address = listener.address
      // A connection that the listening side closes first leaves TIME_WAIT behind.
      let client = try Socket.connect(to: address)
      do { _ = try accept(from: listener) }
      #expect(client.borrowed.readAll() == [])
    }
    #expect(refusal(of: address) == nil)
  }

  @Test func `the first listener and its siblings all get clients`() throws {
    var first = try Listener.claim(loopback())
    let second = try first.sibling()
    var clients: [Int32] = []
    defer { for client in clients { close(client) } }
    var firsts = 0
    var seconds = 0
    for _ in 0..<200 {
      let client = try Socket.connect(to: first.address)
      #expect(becomes(POLLOUT, client.descriptor))
      clients.append(client.release())
    }
    while case .socket(let socket, let peer) = first.accept() {
      #expect(peer.isLoopback)
      _ = consume socket
      firsts += 1
    }
    while case .socket(let socket, _) = second.accept() {
      _ = consume socket
      seconds += 1
    }
    #expect(firsts + seconds == 200)
    // The probability that one of two gets all 200 clients is 2^-199.
    #expect(firsts > 0)
    #expect(seconds > 0)
  }

  @Test func `an IPv4 client of an IPv6 listener is an IPv4 peer`() throws {
    let listener = try Listener.claim(Address("[::]:0"))
    let client = try Socket.connect(to: loopback(listener.address.port))
    #expect(becomes(POLLIN, listener.descriptor))
    guard case .socket(_, let peer) = listener.accept() else {
      Issue.record("nobody came")
      return
    }
    #expect(try peer == client.localAddress())
    #expect(peer.isLoopback)
  }

  @Test func `an inherited one shares its queue with its siblings, and leaves it open`() throws {
    let owner = try Listener.claim(loopback())
    let copies = [dup(owner.descriptor), dup(owner.descriptor)]
    do {
      var first = try Listener.adopt(copies[0])
      let second = try first.sibling()
      #expect(first.address == owner.address)
      #expect(second.address == owner.address)
      let client = try Socket.connect(to: owner.address)
      // Each of them sees the client, and one accepts it.
      #expect(becomes(POLLIN, first.descriptor))
      let accepted = try accept(from: second)
      #expect(accepted.borrowed.sendsAtOnce)
      #expect(!becomes(POLLIN, first.descriptor, Deadline(seconds: 0)))
      _ = client.descriptor
    }
    let waiting = try Socket.connect(to: owner.address)
    let next = try Listener.adopt(copies[1])
    _ = try accept(from: next)
    _ = waiting.descriptor
  }

  @Test func `a descriptor that does not listen for TCP is not adopted`() throws {
    let pair = try SocketPair()
    let folder = try TemporaryFolder()
    let local = try Listener.claim(folder: folder.path, name: "socket")
    for (descriptor, code) in [
      (pair.client.descriptor, EPROTOTYPE), (local.descriptor, EPROTOTYPE), (1 << 20, EBADF),
    ] {
      var reason: Int32?
      do { _ = try Listener.adopt(descriptor) } catch { reason = error.code }
      #expect(reason == code)
    }
  }
}
