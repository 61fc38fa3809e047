import Testing
import Wire

@testable import Relay

@Suite struct `The queue to the log` {
  private let ada = SessionID(index: 0, generation: 1)
  private let bo = SessionID(index: 1, generation: 2)

  private func send(
    _ id: String, to room: String = "r", of session: SessionID, bytes: Int = 10, receivedAt: Int64
  ) -> LogRequest.Append {
    LogRequest.Append(
      session: session, room: room, user: "u", id: id, kind: .text,
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
}
