import Testing
import Wire

@testable import Relay

@Suite struct `The queue to the log` {
  private let ada = SessionID(index: 0, generation: 1)
  private let bo = SessionID(index: 1, generation: 2)

  private func send(
    _ id: String, to room: String = "r", of session: SessionID, user: String = "u", bytes: Int = 10,
    receivedAt: Int64
  ) -> LogRequest.Append {
    LogRequest.Append(
      session: session, room: room, user: user, id: id, kind: .text,
      body: Array(repeating: 0, count: bytes), mayCreate: true, receivedAt: receivedAt)
  }

  private func ids(_ requests: [LogRequest]?) -> [String] {
    requests?.map { if case .append(let send) = $0 { send.id } else { "" } } ?? []
  }

  @Test func `gathers while the log works, and gives the next batch when it has answered`() {
    var queue = LogQueue()
    queue.append(send("1", of: ada, receivedAt: 5))
    #expect(queue.isReady)
    let first = queue.takeBatch()
    #expect(ids(first) == ["1"])
    queue.append(send("2", of: ada, receivedAt: 6))
    queue.append(send("3", of: ada, receivedAt: 7))
    #expect(!queue.isReady)
    let busy = queue.takeBatch()
    #expect(ids(busy).isEmpty)
    queue.completeBatch()
    let second = queue.takeBatch()
    #expect(ids(second) == ["2", "3"])
    #expect(!queue.isIdle)
    queue.completeBatch()
    #expect(queue.isIdle)
  }

  @Test func `numbers the batch that gathers and the one in the log`() {
    var queue = LogQueue()
    #expect(queue.batchInLog == 0)
    let number = queue.nextNumber
    queue.append(.typing(room: "r", user: "u", on: true))
    _ = queue.takeBatch()
    #expect(queue.batchInLog == number)
    #expect(queue.nextNumber == number + 1)
    queue.completeBatch()
    #expect(queue.batchInLog == 0)
  }

  @Test func `is full beyond its limit, until the log takes the batch`() {
    var queue = LogQueue()
    queue.append(send("1", of: ada, bytes: LogQueue.limitBytes / 2, receivedAt: 0))
    #expect(!queue.isFull)
    queue.append(send("2", of: ada, bytes: LogQueue.limitBytes / 2, receivedAt: 0))
    #expect(queue.isFull)
    _ = queue.takeBatch()
    #expect(!queue.isFull)
  }

  @Test func `counts acks since the first send of the batch that was answered`() {
    var queue = LogQueue()
    queue.append(send("1", of: ada, receivedAt: 5))
    queue.append(send("2", of: ada, receivedAt: 6))
    _ = queue.takeBatch()
    queue.append(send("3", of: ada, receivedAt: 7))
    queue.completeBatch()
    queue.countAck()
    queue.countAck()
    let acknowledged = queue.takeAcknowledged()
    #expect(acknowledged?.count == 2)
    #expect(acknowledged?.since == 5)
    let none = queue.takeAcknowledged()
    #expect(none?.count == nil)
    _ = queue.takeBatch()
    queue.completeBatch()
    queue.countAck()
    let later = queue.takeAcknowledged()
    #expect(later?.since == 7)
  }

  @Test func `gives back the sends to the rooms for which a session waits, in order`() {
    var queue = LogQueue()
    for (id, room, session) in [
      ("1", "r", ada), ("2", "s", ada), ("3", "r", bo), ("4", "r", ada),
    ] {
      queue.append(send(id, to: room, of: session, receivedAt: 0))
    }
    let removed = queue.removeSends { $0.session == ada && $0.room == "r" }
    #expect(removed.map(\.id) == ["1", "4"])
    let batch = queue.takeBatch()
    #expect(ids(batch) == ["2", "3"])
  }

  @Test func `requests other than sends are limited in a batch, and the rest follows in order`() {
    var queue = LogQueue()
    let total = LogQueue.othersPerBatch * 2 + 1
    for number in 1...total {
      queue.append(.typing(room: "\(number)", user: "u\(number)", on: true))
    }
    var rooms: [String] = []
    var counts: [Int] = []
    while let batch = queue.takeBatch() {
      counts.append(batch.count)
      for case .typing(let room, _, _, _) in batch { rooms.append(room) }
      #expect(!queue.isIdle)
      queue.completeBatch()
    }
    #expect(counts == [LogQueue.othersPerBatch, LogQueue.othersPerBatch, 1])
    #expect(rooms == (1...total).map(String.init))
    #expect(queue.isIdle)
  }

  @Test func `a send overtakes what others wait for, but nothing of its user`() {
    var queue = LogQueue()
    for number in 1...LogQueue.othersPerBatch {
      queue.append(.unsubscribe(room: "r", user: "u\(number)"))
    }
    queue.append(.forget(room: "r", user: "ada"))
    queue.append(send("of ada", of: ada, user: "ada", receivedAt: 5))
    queue.append(send("of bo", of: bo, user: "bo", receivedAt: 6))
    let first = queue.takeBatch()
    #expect(ids(first).suffix(1) == ["of bo"])
    #expect(first?.count == LogQueue.othersPerBatch + 1)
    queue.completeBatch()
    queue.append(send("later of ada", of: ada, user: "ada", receivedAt: 7))
    let second = queue.takeBatch()
    #expect(ids(second) == ["", "of ada", "later of ada"])
    queue.completeBatch()
    queue.countAck()
    let acknowledged = queue.takeAcknowledged()
    #expect(acknowledged?.since == 5)
  }

  @Test func `a send that waits is given back, and its bytes are free again`() {
    var queue = LogQueue()
    for number in 0...LogQueue.othersPerBatch {
      queue.append(.typing(room: "r", user: "u\(number)", on: true))
    }
    let last = "u\(LogQueue.othersPerBatch)"
    queue.append(send("1", of: ada, user: last, bytes: LogQueue.limitBytes, receivedAt: 0))
    #expect(queue.isFull)
    let removed = queue.removeSends { $0.session == ada }
    #expect(removed.map(\.id) == ["1"])
    #expect(!queue.isFull)
    _ = queue.takeBatch()
    queue.completeBatch()
    let rest = queue.takeBatch()
    #expect(rest?.count == 1)
    queue.completeBatch()
    #expect(queue.isIdle)
  }
}
