internal import CLinux
internal import Glibc
internal import Platform

/// The connections of a `LinkProxy`, used by its thread.
struct LinkForwarder {
  /// Where a connection is reset that carries a COMMIT.
  enum CommitCut: CaseIterable {
    case afterAnswer, whileCommitting, before

    var sentence: String {
      switch self {
      case .afterAnswer: "after the server had answered"
      case .whileCommitting: "while the server committed"
      case .before: "before the server had seen it"
      }
    }
  }

  struct Link {
    let listener: Int32
    var target: String
    var isHeld = false
    /// In nanoseconds of the monotonic clock; 0 while the link is not frozen.
    var frozenUntil: UInt64 = 0
    var delayedUntil: UInt64 = 0
    var cutsNextCommit = false

    init(listener: Int32, target: String) {
      self.listener = listener
      self.target = target
    }

    var isSilent: Bool { isHeld || frozenUntil > 0 }
  }

  /// One direction of a connection.
  fileprivate struct Stream {
    var chunks: [(due: UInt64, bytes: [UInt8])] = []
    /// How much of the first chunk has been sent.
    var sent = 0
    var heldBytes = 0
    /// The sender has ended it, and then: the receiver was told.
    var hasEnded = false
    var isClosed = false
  }

  private struct Pair {
    let link: Int
    let client: Int32
    let server: Int32
    /// To the server, and from it.
    var up = Stream()
    var down = Stream()
    /// The end of what was sent to the server: a COMMIT may be divided.
    var tail: [UInt8] = []
    /// Set once its COMMIT was forwarded and it is to be reset when the answer has come.
    var awaitsAnswer = false
    var isOver = false
  }

  /// How much of a direction is kept before the sender has to wait.
  private static let heldLimitBytes = 1 << 20
  /// How much later everything arrives on a delayed link, in each direction.
  private static let delayNanoseconds: UInt64 = 100_000_000
  /// In `Bind`: the unnamed portal and the name of the prepared statement.
  private static let commit = [0] + Array("commit".utf8) + [0]
  /// In `CommandComplete`.
  private static let committed = Array("COMMIT".utf8) + [0]

  private var links: [Link]
  private var pairs: [Pair] = []
  private var nextCut = 0
  private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
  private let note: @Sendable (String) -> Void

  init(links: [Link], note: @escaping @Sendable (String) -> Void) {
    self.links = links
    self.note = note
  }

  // MARK: Orders

  mutating func perform(_ order: LinkProxy.Order, on link: Int) {
    let now = Instant.now().nanoseconds
    switch order {
    case .hold: links[link].isHeld = true
    case .release: links[link].isHeld = false
    case .forward(let target): links[link].target = target
    case .fault(.cut): reset(link)
    case .fault(.cutCommit): links[link].cutsNextCommit = true
    case .fault(.delay(let milliseconds)):
      links[link].delayedUntil = now + UInt64(milliseconds) * 1_000_000
    case .fault(.freeze(let milliseconds)):
      links[link].frozenUntil = now + UInt64(milliseconds) * 1_000_000
    }
  }

  private mutating func reset(_ link: Int) {
    for index in pairs.indices where pairs[index].link == link { reset(pair: index) }
    removeEnded()
  }

  private mutating func reset(pair index: Int) {
    guard !pairs[index].isOver else { return }
    pairs[index].isOver = true
    BorrowedSocket(descriptor: pairs[index].client).resetOnClose()
    close(pairs[index].client)
    close(pairs[index].server)
  }

  private mutating func removeEnded() { pairs.removeAll(where: \.isOver) }

  mutating func end() {
    for link in links.indices {
      reset(link)
      close(links[link].listener)
    }
  }

  // MARK: Forwarding

  /// Waits until something can be done, and does it.
  /// - Parameter waker: a descriptor that ends the wait when it can be read.
  mutating func turn(wokenBy waker: Int32) {
    thaw()
    var requests = [pollfd(fd: waker, events: Int16(POLLIN), revents: 0)]
    for link in links {
      requests.append(
        pollfd(fd: link.isSilent ? -1 : link.listener, events: Int16(POLLIN), revents: 0))
    }
    let now = Instant.now().nanoseconds
    for pair in pairs {
      let isSilent = links[pair.link].isSilent
      let interests = [
        (pair.client, events(reading: pair.up, writing: pair.down, now)),
        (pair.server, events(reading: pair.down, writing: pair.up, now)),
      ]
      for (descriptor, events) in interests {
        requests.append(
          pollfd(fd: isSilent || events == 0 ? -1 : descriptor, events: events, revents: 0))
      }
    }
    let count = requests.count
    guard unsafe poll(&requests, nfds_t(count), timeoutMilliseconds(now)) >= 0 else { return }
    let known = pairs.count
    for link in links.indices where requests[1 + link].revents != 0 { accept(on: link) }
    let first = 1 + links.count
    for index in 0..<known where !links[pairs[index].link].isSilent {
      if requests[first + 2 * index].revents != 0 { read(index, isUp: true) }
      if requests[first + 2 * index + 1].revents != 0 { read(index, isUp: false) }
      write(index)
    }
    removeEnded()
  }

  /// Resets the connections of links that have been frozen for long enough.
  private mutating func thaw() {
    let now = Instant.now().nanoseconds
    for link in links.indices where (1...now).contains(links[link].frozenUntil) {
      links[link].frozenUntil = 0
      reset(link)
    }
  }

  private func events(reading: Stream, writing: Stream, _ now: UInt64) -> Int16 {
    var events: Int32 = 0
    if !reading.hasEnded, reading.heldBytes < Self.heldLimitBytes { events |= POLLIN }
    if let due = writing.chunks.first?.due, due <= now { events |= POLLOUT }
    return Int16(events)
  }

  /// Until something that is held back is due, or a link thaws.
  private func timeoutMilliseconds(_ now: UInt64) -> Int32 {
    var due = links.compactMap { $0.frozenUntil > 0 ? $0.frozenUntil : nil }
    for pair in pairs where !links[pair.link].isSilent {
      due += [pair.up, pair.down].compactMap { $0.chunks.first?.due }.filter { $0 > now }
    }
    guard let next = due.min() else { return -1 }
    return next <= now ? 0 : Int32((next - now) / 1_000_000) + 1
  }

  private mutating func accept(on link: Int) {
    var address = clinux_address()
    let client = unsafe clinux_accept(links[link].listener, &address)
    guard client >= 0 else { return }
    let server = unsafe clinux_connect_unix(links[link].target)
    guard server >= 0 else {
      close(client)
      return
    }
    pairs.append(Pair(link: link, client: client, server: server))
  }

  private mutating func read(_ index: Int, isUp: Bool) {
    guard !pairs[index].isOver else { return }
    let descriptor = isUp ? pairs[index].client : pairs[index].server
    let stream = isUp ? pairs[index].up : pairs[index].down
    if stream.hasEnded || stream.heldBytes >= Self.heldLimitBytes { return }
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    if count < 0 {
      if errno == EAGAIN || errno == EINTR { return }
      return reset(pair: index)
    }
    guard count > 0 else {
      if isUp { pairs[index].up.hasEnded = true } else { pairs[index].down.hasEnded = true }
      return
    }
    let bytes = Array(buffer[..<count])
    if isUp { takeFromClient(bytes, index) } else { takeFromServer(bytes, index) }
  }

  private mutating func takeFromClient(_ bytes: [UInt8], _ index: Int) {
    let link = pairs[index].link
    if links[link].cutsNextCommit, (pairs[index].tail + bytes).contains(Self.commit) {
      links[link].cutsNextCommit = false
      let cut = CommitCut.allCases[nextCut % CommitCut.allCases.count]
      nextCut += 1
      note("a connection cut in COMMIT, \(cut.sentence)")
      switch cut {
      case .before: return reset(pair: index)
      case .whileCommitting:
        pairs[index].up.add(bytes, due: 0)
        write(index)
        return reset(pair: index)
      case .afterAnswer: pairs[index].awaitsAnswer = true
      }
    }
    pairs[index].tail = Array((pairs[index].tail + bytes).suffix(Self.commit.count - 1))
    pairs[index].up.add(bytes, due: due(on: link))
  }

  private mutating func takeFromServer(_ bytes: [UInt8], _ index: Int) {
    guard pairs[index].awaitsAnswer else {
      return pairs[index].down.add(bytes, due: due(on: pairs[index].link))
    }
    // The answers before it do not matter any more.
    if bytes.contains(Self.committed) { reset(pair: index) }
  }

  private func due(on link: Int) -> UInt64 {
    let now = Instant.now().nanoseconds
    return links[link].delayedUntil > now ? now + Self.delayNanoseconds : 0
  }

  private mutating func write(_ index: Int) {
    guard !pairs[index].isOver else { return }
    let now = Instant.now().nanoseconds
    let isGood =
      pairs[index].up.send(to: pairs[index].server, now)
      && pairs[index].down.send(to: pairs[index].client, now)
    if !isGood { return reset(pair: index) }
    if pairs[index].up.isClosed, pairs[index].down.isClosed || pairs[index].down.chunks.isEmpty {
      // The client is gone: what the server may still send is discarded.
      pairs[index].isOver = true
    } else if pairs[index].down.isClosed {
      pairs[index].isOver = true
    }
    if pairs[index].isOver {
      close(pairs[index].client)
      close(pairs[index].server)
    }
  }
}

extension LinkForwarder.Stream {
  mutating func add(_ bytes: [UInt8], due: UInt64) {
    // Not before what came earlier.
    chunks.append((max(due, chunks.last?.due ?? 0), bytes))
    heldBytes += bytes.count
  }

  /// Sends what is due.
  /// - Returns: whether the receiver takes it.
  mutating func send(to descriptor: Int32, _ now: UInt64) -> Bool {
    while let chunk = chunks.first, chunk.due <= now {
      let count = unsafe chunk.bytes.withUnsafeBytes { bytes in
        unsafe Glibc.send(
          descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent,
          Int32(MSG_NOSIGNAL))
      }
      if count < 0 { return errno == EAGAIN || errno == EINTR }
      sent += count
      heldBytes -= count
      guard sent == chunk.bytes.count else { return true }
      chunks.removeFirst()
      sent = 0
    }
    if hasEnded, chunks.isEmpty, !isClosed {
      shutdown(descriptor, Int32(SHUT_WR))
      isClosed = true
    }
    return true
  }
}

extension [UInt8] {
  fileprivate func contains(_ pattern: [UInt8]) -> Bool { firstRange(of: pattern) != nil }
}
