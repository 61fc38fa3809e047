import EventLoop
import Glibc
import Platform
import TestSupport
import Testing

@Suite struct `Event loop` {
  @Test func `events of a descriptor that was reused in the same turn are dropped`() throws {
    let loop = try EventLoop()
    let first = try EventDescriptor()
    // Managed by hand: the point is to close it and get the same number again.
    var second = dup(first.descriptor)
    first.signal()
    let one = try loop.register(first.descriptor, for: .readable, token: 1)
    let two = try loop.register(second, for: .readable, token: 2)

    // Both are ready in one turn; whichever comes first closes the other, and opens a
    // descriptor that takes its number.
    let recorder = Recorder()
    let fresh = try EventDescriptor()
    recorder.onReady = { _, token, _ in
      guard recorder.events.count == 1 else { return }
      let victim = token == 1 ? two : one
      let number = token == 1 ? second : first.descriptor
      loop.deregister(victim)
      // Atomically closes the number and gives it to another file.
      #expect(dup2(fresh.descriptor, number) == number)
      do {
        let heir = try loop.register(number, for: .readable, token: 3)
        #expect(heir != victim)
      } catch {
        Issue.record(error)
      }
    }
    loop.runOnce(recorder)
    #expect(recorder.events.count == 1)
    #expect(recorder.events.allSatisfy { $0.token != 3 })

    // The new descriptor is still registered.
    recorder.onReady = { _, _, _ in }
    fresh.signal()
    loop.runOnce(recorder)
    #expect(recorder.events.contains { $0.token == 3 })
    close(second)
    second = -1
  }

  @Test func `many registrations may end in one turn`() throws {
    let loop = try EventLoop()
    let recorder = Recorder()
    var registrations: [Registration] = []
    var descriptors: [Int32] = []
    let event = try EventDescriptor()
    event.signal()
    for token in 0..<200 as Range<UInt64> {
      let descriptor = dup(event.descriptor)
      descriptors.append(descriptor)
      registrations.append(try loop.register(descriptor, for: .readable, token: token))
    }
    recorder.onReady = { _, _, _ in
      for registration in registrations { loop.deregister(registration) }
      registrations = []
    }
    loop.runOnce(recorder)
    #expect(recorder.events.count == 1)
    #expect(loop.registrationCount == 0)
    for descriptor in descriptors { close(descriptor) }
  }

  @Test func `a post from another thread wakes the sleeping loop`() throws {
    let mailbox = try Mailbox<Int>()
    let loop = try EventLoop()
    try _ = loop.register(mailbox.descriptor, for: .readable, token: 5)
    let recorder = Recorder()
    var received: [Int] = []
    var batch: [Int] = []
    recorder.onReady = { _, token, _ in
      #expect(token == 5)
      mailbox.drain(into: &batch)
      received += batch
      if received.count == 1000 { loop.stop() }
    }
    let thread = try WorkerThread(name: "poster") {
      for number in 0..<1000 { mailbox.post(number) }
    }
    loop.run(recorder)
    thread.join()
    #expect(received == Array(0..<1000))
  }

  @Test func `another thread may stop it while it sleeps`() throws {
    let loop = try EventLoop()
    let control = loop.control
    let recorder = Recorder()
    let started = try EventDescriptor()
    recorder.onBeforeSleep = { started.signal() }
    control.wake()
    let descriptor = started.descriptor
    let thread = try WorkerThread(name: "stopper") {
      if becomes(POLLIN, descriptor) { control.stop() }
    }
    loop.run(recorder)
    thread.join()
    // Once if the stop came before the loop had gone to sleep for the first time.
    #expect(recorder.sleeps >= 1)
    #expect(recorder.events.isEmpty)
  }

  @Test func `timers fire by the clock, in order, and in the order of scheduling when equal`()
    throws
  {
    let loop = try EventLoop()
    let recorder = Recorder()
    let start = Instant.now()
    let same = start.adding(milliseconds: 1)
    loop.schedule(at: start.adding(milliseconds: 2), token: 9)
    for token in 0..<5 as Range<UInt64> { loop.schedule(at: same, token: token) }
    let cancelled = loop.schedule(at: same, token: 99)
    loop.cancel(cancelled)
    recorder.onTimer = { _, token in
      #expect(loop.now >= same)
      if token == 9 {
        #expect(loop.now.milliseconds(since: start) >= 2)
        loop.stop()
      }
    }
    loop.run(recorder)
    #expect(recorder.timers == [0, 1, 2, 3, 4, 9])
  }

  @Test func `a timer that reschedules itself immediately does not starve descriptors`() throws {
    let loop = try EventLoop()
    let event = try EventDescriptor()
    event.signal()
    let recorder = Recorder()
    recorder.onTimer = { _, _ in loop.schedule(at: loop.now, token: 1) }
    loop.schedule(at: loop.now, token: 1)
    try _ = loop.register(event.descriptor, for: .readable, token: 2)
    for _ in 0..<3 { loop.runOnce(recorder) }
    #expect(recorder.timers.count == 3)
    #expect(recorder.events.count == 3)
  }

  @Test func `the end of a turn runs once more on request, and then in the next turn`() throws {
    let loop = try EventLoop()
    let recorder = Recorder()
    recorder.onBeforeSleep = {
      // Requests it every time: it runs twice per turn at most, and the loop does not sleep in
      // between.
      loop.runAgain()
      if recorder.sleeps == 6 { loop.stop() }
    }
    // Nothing is registered: the first turn would sleep forever.
    loop.runAgain()
    loop.run(recorder)
    #expect(loop.turns == 3)
    #expect(recorder.sleeps == 6)
  }

  @Test func `an interest can be paused and resumed`() throws {
    let loop = try EventLoop()
    let event = try EventDescriptor()
    event.signal()
    let recorder = Recorder()
    let registration = try loop.register(event.descriptor, for: .readable, token: 1)
    loop.runOnce(recorder)
    try loop.change(registration, for: [])
    loop.runOnce(recorder)
    #expect(recorder.events.count == 1)
    try loop.change(registration, for: .readable)
    loop.runOnce(recorder)
    #expect(recorder.events.count == 2)
  }

  @Test func `edge-triggered events are reported once per change`() throws {
    let loop = try EventLoop()
    let event = try EventDescriptor()
    event.signal()
    let recorder = Recorder()
    try _ = loop.register(event.descriptor, for: [.readable, .edgeTriggered], token: 1)
    for _ in 0..<3 { loop.runOnce(recorder) }
    #expect(recorder.events.count == 1)
    event.signal()
    loop.runOnce(recorder)
    #expect(recorder.events.count == 2)
  }

  @Test func `a descriptor that epoll refuses is an error that leaves nothing behind`() throws {
    let loop = try EventLoop()
    let file = unsafe open("/proc/self/stat", O_RDONLY)
    defer { close(file) }
    #expect(throws: SystemError("epoll_ctl add \(file)", code: EPERM)) {
      try loop.register(file, for: .readable, token: 1)
    }
    #expect(loop.registrationCount == 0)
  }
}

@Suite struct `Connections that end in a loop` {
  @Test func `a half-closed peer is reported once and can still be written to`() throws {
    let pair = try SocketPair()
    let loop = try EventLoop()
    let recorder = Recorder()
    let registration = try loop.register(pair.server.descriptor, for: .readable, token: 1)
    pair.client.shutdownWrite()
    #expect(becomes(POLLRDHUP_, pair.server.descriptor))
    let server = pair.server.borrowed
    recorder.onReady = { _, _, readiness in
      #expect(readiness == [.readable, .closed])
      var buffer: [UInt8] = [0]
      var span = buffer.mutableSpan
      guard case .end = server.read(into: &span) else {
        Issue.record("not the end")
        return
      }
      #expect(throws: Never.self) { try loop.change(registration, for: []) }
    }
    for _ in 0..<100 { loop.runOnce(recorder) }
    #expect(recorder.events.count == 1)
    guard case .sent(3) = server.send([1, 2, 3].span) else {
      Issue.record("not sent")
      return
    }
    #expect(pair.client.borrowed.readAll(upTo: 3) == [1, 2, 3])
  }

  @Test func `a connection that is reset while paused is reported once`() throws {
    let pair = try SocketPair()
    let loop = try EventLoop()
    let recorder = Recorder()
    let server = pair.server.borrowed
    let registration = try loop.register(server.descriptor, for: [], token: 1)
    let client = pair.client.release()
    Socket(owning: client).abort()
    #expect(becomes(POLLHUP, server.descriptor))
    for _ in 0..<100 { loop.runOnce(recorder) }
    #expect(recorder.events.count == 1)
    #expect(recorder.events.first?.readiness == [.closed, .failed])

    // Still registered: reading again reports it again.
    try loop.change(registration, for: .readable)
    loop.runOnce(recorder)
    #expect(recorder.events.last?.readiness.contains([.readable, .closed]) == true)
    var buffer: [UInt8] = [0]
    var span = buffer.mutableSpan
    guard case .failed(let error) = server.read(into: &span) else {
      Issue.record("not failed")
      return
    }
    #expect(error == SystemError("recv", code: ECONNRESET))
    loop.deregister(registration)
    #expect(loop.registrationCount == 0)
  }

  @Test func `a quiet registration can be deregistered`() throws {
    let pair = try SocketPair()
    let loop = try EventLoop()
    let registration = try loop.register(pair.server.descriptor, for: [], token: 1)
    let client = pair.client.release()
    Socket(owning: client).abort()
    #expect(becomes(POLLHUP, pair.server.descriptor))
    loop.runOnce(Recorder())
    loop.deregister(registration)
    #expect(loop.registrationCount == 0)
  }

  /// POLLRDHUP needs _GNU_SOURCE, which Swift's Glibc is not built with.
  private var POLLRDHUP_: Int32 { 0x2000 }
}
