import Archive
import Mixing
import Relay
import Synchronization
import TestSupport
import Testing
import Wire

@Suite struct `The archive's pages` {
  @Test(arguments: 1...20)
  func `equal those of the relay, for any history`(seed: UInt64) throws {
    var dice = SplitMix64(seed: seed)
    let folder = try TemporaryFolder()
    let archive = try Archive(path: folder.file)
    let relay = RelayRoom()
    // What the archive misses, it is given page by page while more arrives.
    let missed = Int.random(in: 0...60, using: &dice)
    for _ in 0..<missed { relay.play(&dice) }
    archive.begin("r", epoch: "e1", after: relay.head)
    var oldest = relay.head + 1
    for _ in 0..<250 {
      relay.play(&dice)
      for entry in relay.takeNew() { archive.append(entry) }
      if oldest > 1, Int.random(in: 0..<8, using: &dice) == 0 {
        let count = Int.random(in: 1...12, using: &dice)
        let page = relay.history(before: oldest, limit: count, fold: false)
        #expect(try archive.prepend(page, to: "r"))
        oldest = page.first?.seq ?? oldest
      }
    }
    while oldest > 1 {
      let page = relay.history(before: oldest, limit: 50, fold: false)
      #expect(try archive.prepend(page, to: "r"))
      oldest = page.first?.seq ?? 0
    }
    #expect(try archive.page(of: "r", limit: 500) == relay.history(limit: 500, fold: true))
    for _ in 0..<20 {
      let before = Int64.random(in: 1...relay.head + 1, using: &dice)
      let limit = Int.random(in: 1...30, using: &dice)
      #expect(
        try archive.page(of: "r", before: before, limit: limit)
          == relay.history(before: before, limit: limit, fold: true))
    }
  }
}

/// A room of the relay's own log, in memory, in which users act at random.
private final class RelayRoom: @unchecked Sendable {
  private let log = MemoryLog(epoch: "e1", retention: Retention(), clock: { 1_000 })
  private let delivered = Mutex<[LogDelivery]>([])
  private var count = 0
  private(set) var head: Int64 = 0
  private var new: [Entry] = []

  init() {
    let framing = Framing { bytes, frames in
      frames += [0x81, 126, UInt8(bytes >> 8 & 255), UInt8(bytes & 255)]
    }
    log.start(loops: 1, framing: framing) { [weak self] _, delivery in
      self?.delivered.withLock { $0.append(delivery) }
    }
  }

  /// A user's action, which the relay may refuse.
  func play(_ dice: inout SplitMix64) {
    count += 1
    let user = ["ada", "bo", "cy"].randomElement(using: &dice) ?? ""
    let target = Int64.random(in: max(1, head - 15)...head + 1, using: &dice)
    let id = "\(count)"
    let send: ClientMessage.Send =
      switch Int.random(in: 0..<10, using: &dice) {
      case 0...2: .init(room: "r", id: id, text: "text \(count)")
      case 3: .init(room: "r", id: id, text: "answer \(count)", replyTo: target)
      case 4, 5: .init(room: "r", id: id, edit: target, text: "edit \(count)")
      case 6: .init(room: "r", id: id, delete: target)
      case 7: .init(room: "r", id: id, kind: .data, body: Array("\"data\":\(count)".utf8))
      default:
        .init(
          room: "r", id: id, react: target, emoji: ["👍", "🎉"].randomElement(using: &dice) ?? "",
          isOn: Bool.random(using: &dice))
      }
    let append = LogRequest.Append(
      session: SessionID(index: 1, generation: 1), room: "r", user: user, id: send.id,
      kind: send.kind, body: send.body, reference: send.reference, mayCreate: true)
    log.submit([.append(append)], from: 0)
    for delivery in take() {
      guard let frames = delivery.commit?.frames else { continue }
      for index in 0..<frames.count {
        guard let entry = try? Entry(decoding: Array(frames.payload(index)).span) else { continue }
        head = entry.seq
        new.append(entry)
      }
    }
  }

  func takeNew() -> [Entry] {
    defer { new = [] }
    return new
  }

  func history(before: Int64? = nil, limit: Int, fold: Bool) -> [Entry] {
    let request = ClientMessage.HistoryRequest(
      room: "r", before: before, limit: limit, isFolded: fold)
    log.read(
      .history(
        SessionID(index: 1, generation: 1), request, by: .init(user: "ada", now: 0),
        mayCreate: true, limitBytes: 1 << 20), from: 0)
    for delivery in take() {
      for case .reply(_, let json) in delivery.answers {
        if case .history(let page)? = try? ServerMessage(decoding: json.span) {
          return page.entries
        }
      }
    }
    return []
  }

  private func take() -> [LogDelivery] {
    delivered.withLock { deliveries in
      defer { deliveries = [] }
      return deliveries
    }
  }
}
