import EventLoop
import Glibc
import Platform
import TestSupport
import Testing

@testable import Client
@testable import WebSocket

@Suite struct `A client's link` {
  /// A link whose server is the test.
  private final class Scene {
    var link = Link()
    let resources = LinkResources()
    private let loop: EventLoop
    private let server: Socket
    private let request: String

    init() throws {
      loop = try EventLoop()
      let listener = try Listener.claim(Address("127.0.0.1:0"))
      try link.connect(to: listener.address, on: loop, token: 0)
      server = try accept(from: listener)
      let handshake = ClientHandshake(host: "h", target: "/", nonce: resources.nonce())
      link.begin(handshake)
      link.flush()
      let bytes = server.borrowed.readAll(upTo: handshake.request.count)
      request = String(decoding: bytes, as: UTF8.self)
    }

    deinit { link.drop(from: loop) }

    /// The same with many lines.
    func acceptance(bytes: Int) -> [UInt8] {
      let line = Array("a:\r\n".utf8)
      let whole = acceptance
      let lines = max(0, (bytes - whole.count) / line.count)
      return whole.dropLast(2) + (0..<lines).flatMap { _ in line } + whole.suffix(2)
    }

    /// The answer of a server that accepts the handshake.
    var acceptance: [UInt8] {
      let name = "Sec-WebSocket-Key: "
      let key = request.split(separator: "\r\n").first { $0.hasPrefix(name) }?
        .dropFirst(name.count)
      return Array(
        """
        HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: \(AcceptKey.accept(for: String(key ?? "")))\r\n\r\n
        """.utf8)
    }

    static func frame(_ text: String) -> [UInt8] {
      var frame: [UInt8] = []
      Connection.appendMessage(.text, Array(text.utf8).span, to: &frame)
      return frame
    }

    /// Sends bytes as the server, and returns what the link reports when it reads them.
    func events(after bytes: [UInt8], thenEnd: Bool = false, bytesPerRead: Int = .max) -> [String] {
      _ = server.send(bytes.span)
      if thenEnd { server.shutdownWrite() }
      var events: [String] = []
      var input = resources.borrowInput()
      defer { resources.returnInput(input) }
      var left = bytes.count + (thenEnd ? 1 : 0)
      while left > 0 {
        switch link.read(into: &input, limit: bytesPerRead) {
        case .bytes(let count): left -= count
        case .nothing: continue
        case .ended(let end): return events + ["\(end)"]
        }
        while let event = link.next(in: &input, with: resources) {
          switch event {
          case .opened: events.append("opened")
          case .message:
            input.withMessage { message in
              events.append(String(decoding: message.indices.map { message[$0] }, as: UTF8.self))
            }
          case .ended(let end): events.append("\(end)")
          }
        }
      }
      return events
    }
  }

  @Test(arguments: [Int.max, 1, 7])
  func `frames that directly follow the handshake are messages`(bytesPerRead: Int) throws {
    let scene = try Scene()
    let bytes = scene.acceptance + Scene.frame("one") + Scene.frame("") + Scene.frame("two")
    #expect(
      scene.events(after: bytes, bytesPerRead: bytesPerRead) == ["opened", "one", "", "two"])
  }

  @Test func `an answer that comes byte by byte costs work that is linear`() throws {
    let isLinear = try Growth.isLinear(from: 1000) { bytes in
      let scene = try Scene()
      let answer = scene.acceptance(bytes: bytes)
      return Growth.processorTime {
        #expect(scene.events(after: answer, bytesPerRead: 1) == ["opened"])
      }
    }
    #expect(isLinear)
  }

  @Test func `an answer that is no HTTP is refused at once`() throws {
    let scene = try Scene()
    #expect(scene.events(after: [0x15, 0x03, 0x01]).count == 1)
  }

  @Test func `bytes that the owner has processed are skipped`() throws {
    let scene = try Scene()
    #expect(scene.events(after: scene.acceptance) == ["opened"])
    let isBetweenMessages = scene.link.isBetweenMessages
    #expect(isBetweenMessages)
    var input = LinkInput(bytes: 64)
    let (known, next) = (Scene.frame("known"), Scene.frame("next"))
    input.bytes.replaceSubrange(0..<known.count + next.count, with: known + next)
    input.begin(count: known.count + next.count, isFull: false)
    input.skip(known.count)
    guard case .message = scene.link.next(in: &input, with: scene.resources) else {
      Issue.record("no message")
      return
    }
    input.withMessage { #expect($0.count == 4) }
  }

  @Test func `a refusal that the connection's end truncates is a refusal`() throws {
    let scene = try Scene()
    let refusal = Array("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 99\r\n\r\nlater".utf8)
    let events = scene.events(after: refusal, thenEnd: true)
    #expect(events == ["\(LinkEnd.handshake(.refused(status: 503, body: "later")))"])
  }

  @Test func `a masked frame from the server is a violation, after which nothing is read`() throws {
    let scene = try Scene()
    let masked: [UInt8] = [0x81, 0x81, 1, 2, 3, 4, 5]
    let events = scene.events(after: scene.acceptance + masked + Scene.frame("never"))
    #expect(events.count == 2)
    #expect(events.last?.hasPrefix("violation") == true)
  }
}
