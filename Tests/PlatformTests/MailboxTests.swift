import Glibc
import Platform
import Testing

@Suite struct `A mailbox` {
  private struct Message: Sendable {
    var producer: Int
    var number: Int
  }

  @Test func `nothing is lost and each producer's messages stay in order`() throws {
    let mailbox = try Mailbox<Message>()
    let producers = 4
    let messagesEach = 100_000
    for producer in 0..<producers {
      // Not joined: the last message is what the test waits for.
      _ = try WorkerThread(name: "producer") {
        for number in 0..<messagesEach {
          mailbox.post(Message(producer: producer, number: number))
        }
      }
    }
    var next = [Int](repeating: 0, count: producers)
    var outOfOrder = 0
    var received = 0
    var batch: [Message] = []
    while received < producers * messagesEach {
      guard mailbox.wait(timeoutMilliseconds: 10_000) else {
        Issue.record("no wake-up in 10 s after \(received) messages")
        return
      }
      mailbox.drain(into: &batch)
      received += batch.count
      for message in batch {
        if message.number != next[message.producer] { outOfOrder += 1 }
        next[message.producer] = message.number + 1
      }
    }
    #expect(outOfOrder == 0)
    #expect(received == producers * messagesEach)
    #expect(next == [Int](repeating: messagesEach, count: producers))
  }

  @Test func `it is readable from the first post to the drain`() throws {
    let mailbox = try Mailbox<Int>()
    #expect(!mailbox.wait(timeoutMilliseconds: 0))
    mailbox.post(1)
    mailbox.post(2)
    #expect(mailbox.wait(timeoutMilliseconds: 0))
    var batch = [99]
    mailbox.drain(into: &batch)
    #expect(batch == [1, 2])
    #expect(!mailbox.wait(timeoutMilliseconds: 0))
    mailbox.drain(into: &batch)
    #expect(batch.isEmpty)
    mailbox.post(3)
    #expect(mailbox.wait(timeoutMilliseconds: 0))
  }

  @Test func `only the first of several posts writes to the eventfd`() throws {
    let mailbox = try Mailbox<Int>()
    for number in 0..<5 { mailbox.post(number) }
    var writes: UInt64 = 0
    #expect(unsafe read(mailbox.descriptor, &writes, 8) == 8)
    #expect(writes == 1)
  }

  @Test func `the two arrays are swapped and keep their memory`() throws {
    let mailbox = try Mailbox<Int>()
    var batch: [Int] = []
    batch.reserveCapacity(1000)
    let capacity = batch.capacity
    mailbox.drain(into: &batch)
    for number in 0..<1000 { mailbox.post(number) }
    mailbox.drain(into: &batch)
    #expect(batch.count == 1000)
    #expect(batch.capacity == capacity)
  }

  @Test func `old messages are released outside the lock`() throws {
    final class Echo: Sendable {
      let mailbox: Mailbox<Echo?>
      init(_ mailbox: Mailbox<Echo?>) { self.mailbox = mailbox }
      deinit { mailbox.post(nil) }
    }
    let mailbox = try Mailbox<Echo?>()
    mailbox.post(Echo(mailbox))
    var batch: [Echo?] = []
    mailbox.drain(into: &batch)
    #expect(batch.count == 1)
    // Under the lock, this deinit's post would wait for itself.
    mailbox.drain(into: &batch)
    #expect(batch.count == 1 && batch[0] == nil)
  }

  @Test func `waiting ends at the timeout`() throws {
    let mailbox = try Mailbox<Int>()
    #expect(!mailbox.wait(timeoutMilliseconds: 1))
  }

  @Test func `a post wakes a thread that waits without a timeout`() throws {
    let mailbox = try Mailbox<Int>()
    let answers = try Mailbox<[Int]>()
    let thread = try WorkerThread(name: "reader") {
      var batch: [Int] = []
      while batch.isEmpty {
        _ = mailbox.wait(timeoutMilliseconds: -1)
        mailbox.drain(into: &batch)
      }
      answers.post(batch)
    }
    mailbox.post(7)
    thread.join()
    var batch: [[Int]] = []
    answers.drain(into: &batch)
    #expect(batch == [[7]])
  }
}
