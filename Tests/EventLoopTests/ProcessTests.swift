import EventLoop
import Glibc
import Platform
import TestSupport
import Testing

/// Settings of the whole process are tested in a process of their own.
@Suite struct `Process-wide settings` {
  @Test func `without descriptors the loop pauses, then continues with the same clients`() async {
    await #expect(processExitsWith: .success) {
      let loop = try EventLoop()
      let listener = try Listener.claim(Address("127.0.0.1:0"))
      var reports: [SystemError] = []
      let acceptor = try Acceptor(listener, on: loop, token: 1) { reports.append($0) }
      var clients: [Int32] = []
      for _ in 0..<16 {
        let client = try Socket.connect(to: acceptor.address)
        clients.append(client.release())
      }
      let limit = try DescriptorLimit.read()
      try DescriptorLimit.set(soft: Int(clients[15]) + 1)
      defer { for client in clients { close(client) } }

      let recorder = Recorder()
      var accepted: [Int32] = []
      recorder.onReady = { _, _, _ in
        #expect(throws: Never.self) {
          try acceptor.accept { socket, _ in accepted.append(socket.release()) }
        }
      }
      recorder.onTimer = { _, _ in
        // The obstructing descriptors have been closed.
        #expect(throws: Never.self) {
          try DescriptorLimit.set(soft: limit.soft)
          try acceptor.timerFired()
        }
      }
      recorder.onBeforeSleep = { if accepted.count == 16 { loop.stop() } }
      loop.run(recorder)
      precondition(accepted.count == 16)
      precondition(reports == [SystemError("accept", code: EMFILE)])
      precondition(acceptor.turnedAway == 0)
      // One turn ends in the pause, one with the timer, one or two with the clients.
      precondition(loop.turns <= 5, "\(loop.turns) turns")
    }
  }

  @Test func `clients are rejected if waiting for descriptors did not help`() async {
    await #expect(processExitsWith: .success) {
      let loop = try EventLoop()
      var reports: [SystemError] = []
      let acceptor = try Acceptor(
        Listener.claim(Address("127.0.0.1:0")), on: loop, token: 1, report: { reports.append($0) })
      var clients: [BorrowedSocket] = []
      for _ in 0..<16 {
        clients.append(
          BorrowedSocket(descriptor: try Socket.connect(to: acceptor.address).release()))
      }
      let limit = try DescriptorLimit.read()
      try DescriptorLimit.set(soft: Int(clients[15].descriptor) + 1)
      let recorder = Recorder()
      // A descriptor that the runtime closes meanwhile admits one client; it is kept, or all would
      // be admitted with it.
      var accepted: [Int32] = []
      recorder.onReady = { _, _, _ in
        #expect(throws: Never.self) {
          try acceptor.accept { socket, _ in accepted.append(socket.release()) }
        }
      }
      recorder.onTimer = { _, _ in
        #expect(throws: Never.self) { try acceptor.timerFired() }
      }
      try runUntilAllAreAnswered(loop, recorder, acceptor) { accepted.count }
      precondition(acceptor.turnedAway > 0)
      precondition(acceptor.isPaused)
      // A shortage is reported once, however long it lasts; admitting a client ends it.
      precondition((1...1 + accepted.count).contains(reports.count))
      var reset = 0
      // SO_ERROR is reported once: each client counts once.
      while reset < acceptor.turnedAway {
        for client in clients where client.takeError()?.code == ECONNRESET { reset += 1 }
      }
      precondition(reset == acceptor.turnedAway)

      // And it recovers.
      try DescriptorLimit.set(soft: limit.soft)
      let late = try Socket.connect(to: acceptor.address)
      let before = accepted.count
      precondition(becomes(POLLOUT, late.descriptor))
      while accepted.count == before { loop.runOnce(recorder) }
      for socket in accepted { close(socket) }
      acceptor.close()
      precondition(loop.registrationCount == 0 && loop.timerCount == 0)
    }
  }

  @Test func `an acceptor without its spare descriptor takes the next free one`() async {
    await #expect(processExitsWith: .success) {
      let loop = try EventLoop()
      let listener = try Listener.claim(Address("127.0.0.1:0"))
      var clients: [Int32] = []
      for _ in 0..<16 { clients.append(try Socket.connect(to: listener.address).release()) }
      let inTheWay = dup(clients[0])
      try DescriptorLimit.set(soft: Int(inTheWay) + 1)
      // All free numbers below, so that nothing is left for a spare.
      while dup(clients[0]) >= 0 {}
      let acceptor = try Acceptor(listener, on: loop, token: 1) { _ in }
      let recorder = Recorder()
      var accepted: [Int32] = []
      recorder.onReady = { _, _, _ in
        #expect(throws: Never.self) {
          try acceptor.accept { socket, _ in accepted.append(socket.release()) }
        }
      }
      recorder.onTimer = { _, _ in
        #expect(throws: Never.self) { try acceptor.timerFired() }
      }
      while !acceptor.isPaused { loop.runOnce(recorder) }
      close(inTheWay)
      try runUntilAllAreAnswered(loop, recorder, acceptor) { accepted.count }
      // With a descriptor that the runtime closes meanwhile one client may be admitted.
      precondition(accepted.count + acceptor.turnedAway == 16 && acceptor.turnedAway > 0)
    }
  }

  @Test func `signals become events, each in its order`() async {
    await #expect(processExitsWith: .success) {
      let loop = try EventLoop()
      let signals = try SignalSource()
      _ = try loop.register(signals.descriptor, for: .readable, token: 1)
      let recorder = Recorder()
      kill(getpid(), SIGHUP)
      kill(getpid(), SIGTERM)
      kill(getpid(), SIGINT)
      var received: [Int32] = []
      while received.count < 3 {
        precondition(becomes(POLLIN, signals.descriptor))
        loop.runOnce(recorder)
        while let signal = signals.next() { received.append(signal) }
      }
      // Each may be handled by another thread, so the kernel does not guarantee their order.
      precondition(Set(received) == [SIGHUP, SIGTERM, SIGINT])
      precondition(signals.next() == nil)
      precondition(!recorder.events.isEmpty)
    }
  }

  @Test func `a signal ends the process again once its source is gone`() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      do { _ = try SignalSource() }
      // Not raise: signals may be blocked on this thread, but not on the main thread.
      kill(getpid(), SIGTERM)
      poll(nil, 0, 10_000)
    }
  }

  @Test func `a broken pipe is an error, once ignored`() async {
    await #expect(processExitsWith: .success) {
      ignoreSIGPIPE()
      var ends: [Int32] = [0, 0]
      precondition(unsafe pipe(&ends) == 0)
      close(ends[0])
      precondition(unsafe write(ends[1], "x", 1) == -1)
      precondition(errno == EPIPE)
    }
  }

  @Test func `the descriptor limit is raised to the hard one`() async {
    await #expect(processExitsWith: .success) {
      let before = try DescriptorLimit.read()
      try DescriptorLimit.set(soft: 100)
      let raised = try DescriptorLimit.raise()
      let after = try DescriptorLimit.read()
      precondition(raised == before.hard && after == (before.hard, before.hard))
    }
  }
}

/// Waits until the sixteen clients are accepted or rejected.
///
/// The number that is free for a moment may be taken by the runtime for good: libdispatch makes its
/// timer's descriptor when its manager first runs. Then another number is freed.
private func runUntilAllAreAnswered(
  _ loop: EventLoop, _ recorder: Recorder, _ acceptor: Acceptor, accepted: () -> Int
) throws {
  var pausesInVain = 0
  var answered = 0
  while answered < 16 {
    let wasPaused = acceptor.isPaused
    loop.runOnce(recorder)
    if accepted() + acceptor.turnedAway > answered {
      answered = accepted() + acceptor.turnedAway
      pausesInVain = 0
    } else if acceptor.isPaused && !wasPaused {
      pausesInVain += 1
    }
    if pausesInVain == 4 {
      pausesInVain = 0
      try DescriptorLimit.set(soft: DescriptorLimit.read().soft + 1)
    }
  }
}
