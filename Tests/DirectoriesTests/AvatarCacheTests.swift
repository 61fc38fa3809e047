import Platform
import Relay
import Synchronization
import TestSupport
import Testing

@testable import Directories

@Suite struct `Avatars` {
  let service: FakeService
  let answers: Answers

  init() throws {
    service = try FakeService()
    answers = try Answers()
  }

  private func ask(_ cache: AvatarCache, _ user: String, _ path: String) throws -> Avatar? {
    cache.avatar(for: user, url: service.url + path, completion: answers.take)
    return try answers.next()
  }

  @Test func `a picture is fetched once, and then known`() throws {
    let cache = try AvatarCache(.onLoopback)
    defer { cache.stop() }
    let first = try ask(cache, "ada", "/avatar/100?type=image/png")
    #expect(first?.bytes.count == 100)
    // Now on the calling thread.
    let known = Mutex<Avatar?>(nil)
    cache.avatar(for: "ada", url: "\(service.url)/avatar/100?type=image/png") { avatar in
      known.withLock { $0 = avatar }
    }
    #expect(known.withLock { $0 } == first)
    #expect(try service.log().count == 1)
  }

  @Test func `many requests at the same time share one fetch`() throws {
    try service.control(#"{"delay_ms":300}"#)
    let cache = try AvatarCache(.onLoopback)
    defer { cache.stop() }
    for _ in 0..<50 {
      cache.avatar(for: "ada", url: "\(service.url)/avatar/10", completion: answers.take)
    }
    for _ in 0..<50 { #expect(try answers.next()?.bytes.count == 10) }
    #expect(try service.log().count == 1)
  }

  @Test(arguments: ["/avatar/524289", "/avatar/0", "/no/avatar"])
  func `a response that is no picture, or too large, is refused and not fetched again`(
    path: String
  ) throws {
    let cache = try AvatarCache(.onLoopback)
    defer { cache.stop() }
    #expect(try ask(cache, "ada", path) == nil)
    #expect(try ask(cache, "ada", path) == nil)
    #expect(try service.log().count == 1)
    #expect(try ask(cache, "bo", "/avatar/524288?type=image/x")?.bytes.count == 524_288)
  }

  @Test func `what is made of a picture is served, and nothing where that fails`() throws {
    let cache = try AvatarCache(.onLoopback { $0.count < 10 ? Array($0.dropFirst()) : nil })
    defer { cache.stop() }
    #expect(try ask(cache, "ada", "/avatar/3")?.bytes.count == 2)
    for _ in 0..<2 { #expect(try ask(cache, "bo", "/avatar/10") == nil) }
    #expect(try service.log().count == 2)
  }

  @Test func `pictures are converted one after the other, and few are fetched before`() throws {
    let now = Atomic(0)
    let most = Atomic(0)
    let isOpen = Atomic(false)
    var options = AvatarCache.Options.onLoopback {
      most.max(now.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
      _ = becomesTrue { isOpen.load(ordering: .relaxed) }
      now.subtract(1, ordering: .relaxed)
      return $0
    }
    options.transferLimit = 3
    let cache = try AvatarCache(options)
    defer { cache.stop() }
    for user in 0..<12 {
      cache.avatar(
        for: "u\(user)", url: "\(service.url)/avatar/1?\(user)", completion: answers.take)
    }
    #expect(try becomesTrue { try service.log().count == 3 && now.load(ordering: .relaxed) == 1 })
    // The fourth would be there by now.
    let other = try AvatarCache(.onLoopback)
    defer { other.stop() }
    for path in 0..<5 { #expect(try ask(other, "ada", "/avatar/1?\(path)") != nil) }
    #expect(try service.log().count == 3 + 5)
    isOpen.store(true, ordering: .relaxed)
    for _ in 0..<12 { #expect(try answers.next() != nil) }
    #expect(most.load(ordering: .relaxed) == 1)
  }

  @Test func `stop does not wait for a conversion`() throws {
    let isOpen = Atomic(false)
    let isConverting = Atomic(false)
    let cache = try AvatarCache(
      .onLoopback {
        isConverting.store(true, ordering: .relaxed)
        _ = becomesTrue { isOpen.load(ordering: .relaxed) }
        return $0
      })
    cache.avatar(for: "ada", url: "\(service.url)/avatar/1", completion: answers.take)
    #expect(becomesTrue { isConverting.load(ordering: .relaxed) })
    #expect(returnsSoon(cache.stop))
    #expect(try answers.next() == nil)
    isOpen.store(true, ordering: .relaxed)
  }

  @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "dict://127.0.0.1:1/x"])
  func `other schemes are not followed, neither initially nor by a redirect`(url: String) throws {
    let cache = try AvatarCache(.onLoopback)
    defer { cache.stop() }
    cache.avatar(for: "ada", url: url, completion: answers.take)
    #expect(try answers.next() == nil)
    try service.control(
      "{\"instead\":[{\"path\":\"/\",\"status\":302,\"headers\":{\"Location\":\"\(url)\"}}]}")
    #expect(try ask(cache, "bo", "/avatar/1") == nil)
  }

  @Test func `a redirect to where the picture is now is followed`() throws {
    let cache = try AvatarCache(.onLoopback)
    defer { cache.stop() }
    try service.control(
      #"{"instead":[{"path":"/old","status":301,"headers":{"Location":"/avatar/7"}}]}"#)
    #expect(try ask(cache, "ada", "/old")?.bytes.count == 7)
  }

  @Test(arguments: [
    "127.0.0.1", "localhost", "0.0.0.0", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]",
  ])
  func `nothing is fetched from this machine, however it is named`(host: String) throws {
    let cache = try AvatarCache(AvatarCache.Options { $0 })
    defer { cache.stop() }
    let url = "http://\(host):\(service.port)/avatar/7"
    cache.avatar(for: "ada", url: url, completion: answers.take)
    #expect(try answers.next() == nil)
    #expect(try service.log().isEmpty)
    // The service would answer.
    let open = try AvatarCache(.onLoopback)
    defer { open.stop() }
    open.avatar(for: "ada", url: url, completion: answers.take)
    #expect(try answers.next()?.bytes.count == 7)
  }

  @Test func `a picture of the configured service may be in the relay's network`() throws {
    let other = try FakeService()
    let cache = try AvatarCache(AvatarCache.Options(services: [service.url]) { $0 })
    defer { cache.stop() }
    #expect(try ask(cache, "ada", "/avatar/7")?.bytes.count == 7)
    cache.avatar(for: "bo", url: "\(other.url)/avatar/7", completion: answers.take)
    #expect(try answers.next() == nil)
    try service.control(
      #"{"instead":[{"path":"/old","status":302,"headers":{"Location":"\#(other.url)/avatar/7"}}]}"#
    )
    #expect(try ask(cache, "cy", "/old") == nil)
    #expect(try other.log().isEmpty)
  }

  /// Like a name that resolves to another address the second time.
  @Test func `a redirect is checked against the address that it leads to`() throws {
    let asked = Mutex<[[UInt8]]>([])
    var options = AvatarCache.Options { $0 }
    options.mayConnect = { address in
      asked.withLock {
        $0.append(address.bytes)
        return $0.count == 1
      }
    }
    let cache = try AvatarCache(options)
    defer { cache.stop() }
    try service.control(
      #"{"instead":[{"path":"/old","status":302,"headers":{"Location":"http://127.0.0.2:\#(service.port)/avatar/7"}}]}"#
    )
    #expect(try ask(cache, "ada", "/old") == nil)
    #expect(asked.withLock { $0 } == [[127, 0, 0, 1], [127, 0, 0, 2]])
    #expect(try service.log().count == 1)
  }

  @Test func `another address is another picture`() throws {
    let cache = try AvatarCache(.onLoopback)
    defer { cache.stop() }
    #expect(try ask(cache, "ada", "/avatar/1")?.bytes.count == 1)
    #expect(try ask(cache, "ada", "/avatar/2")?.bytes.count == 2)
  }

  @Test func `a picture expires, but is kept if it cannot be fetched again`() throws {
    var options = AvatarCache.Options.onLoopback
    options.lifetimeMilliseconds = 0
    options.failureLifetimeMilliseconds = 60_000
    let cache = try AvatarCache(options)
    defer { cache.stop() }
    #expect(try ask(cache, "ada", "/avatar/5") != nil)
    #expect(try ask(cache, "ada", "/avatar/5") != nil)
    #expect(try service.log().count == 2)
    try service.control(#"{"instead":[{"path":"/avatar","status":500}]}"#)
    #expect(try ask(cache, "ada", "/avatar/5")?.bytes.count == 5)
    #expect(try ask(cache, "ada", "/avatar/5")?.bytes.count == 5)
    #expect(try service.log().count == 3)
  }

  @Test func `the least recently requested pictures are evicted`() throws {
    var options = AvatarCache.Options.onLoopback
    options.limitBytes = 250
    let cache = try AvatarCache(options)
    defer { cache.stop() }
    for user in ["ada", "bo", "ada", "cy", "ada", "cy"] {
      #expect(try ask(cache, user, "/avatar/100?\(user)") != nil)
    }
    // There is room for two: bo was evicted for cy, since ada was requested after bo.
    #expect(try service.log().count == 3)
    #expect(try ask(cache, "bo", "/avatar/100?bo") != nil)
    #expect(try service.log().count == 4)
  }

  @Test func `a limited number is fetched simultaneously`() throws {
    try service.control(#"{"delay_ms":200}"#)
    var options = AvatarCache.Options.onLoopback
    options.transferLimit = 4
    let cache = try AvatarCache(options)
    defer { cache.stop() }
    for user in 0..<12 {
      cache.avatar(
        for: "u\(user)", url: "\(service.url)/avatar/1?\(user)", completion: answers.take)
    }
    for _ in 0..<12 { #expect(try answers.next() != nil) }
    #expect(try service.log().count == 12)
    #expect((2...4).contains(try service.mostAtOnce()))
  }

  @Test func `requests beyond the limit of waiting ones are refused immediately`() throws {
    try service.control(#"{"delay_ms":300}"#)
    var options = AvatarCache.Options.onLoopback
    options.waiterLimit = 1
    let cache = try AvatarCache(options)
    defer { cache.stop() }
    cache.avatar(for: "ada", url: "\(service.url)/avatar/1", completion: answers.take)
    #expect(try ask(cache, "bo", "/avatar/1") == nil)
    #expect(try answers.next() != nil)
    #expect(try ask(cache, "bo", "/avatar/1") != nil)
  }

  @Test func `stop answers waiting requests, and does not itself wait`() throws {
    try service.control(#"{"instead":[{"path":"/","body":"x","mode":"slow"}]}"#)
    let cache = try AvatarCache(.onLoopback)
    cache.avatar(for: "ada", url: "\(service.url)/avatar/1", completion: answers.take)
    #expect(try becomesTrue { try !service.log().isEmpty })
    #expect(returnsSoon(cache.stop))
    #expect(try answers.next() == nil)
    #expect(try ask(cache, "ada", "/avatar/1") == nil)
    cache.stop()
  }

  @Test func `the cache has a limit, failures included`() {
    var options = AvatarCache.Options.onLoopback
    options.peopleLimit = 3
    var state = AvatarCacheState(options)
    for user in 0..<1000 {
      _ = state.ask(for: "u\(user)", "x", now: 0) { _ in }
      _ = state.put(nil, for: "u\(user)", "x", now: 0)
    }
    #expect(state.count == 3)
    for user in ["u997", "u998", "u999"] {
      guard case .known(nil) = state.ask(for: user, "x", now: 1, { _ in }) else {
        Issue.record("\(user) is forgotten")
        continue
      }
    }
  }
}

/// Pictures as they arrive.
final class Answers: Sendable {
  private let mailbox: Mailbox<Avatar?>
  private let waiting = Mutex<[Avatar?]>([])

  init() throws { mailbox = try Mailbox() }

  func take(_ avatar: Avatar?) { mailbox.post(avatar) }

  func next() throws -> Avatar? {
    let deadline = Deadline()
    while true {
      var news: [Avatar?] = []
      mailbox.drain(into: &news)
      let first: [Avatar?] = waiting.withLock { waiting in
        waiting += news
        return waiting.isEmpty ? [] : [waiting.removeFirst()]
      }
      if let first = first.first { return first }
      guard !deadline.hasPassed else { throw Unexpected("no answer") }
      _ = mailbox.wait(timeoutMilliseconds: deadline.milliseconds)
    }
  }
}

extension AvatarCache.Options {
  /// The address of the tests' service, whose pictures are served as they are.
  fileprivate static var onLoopback: Self { onLoopback { $0 } }

  fileprivate static func onLoopback(_ convert: @escaping AvatarCache.Conversion) -> Self {
    var options = Self(convert: convert)
    options.allowsPrivateAddresses = true
    return options
  }
}
