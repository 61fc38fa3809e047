import Glibc
import Platform
import Synchronization
import Testing

@Suite struct `Worker thread` {
  @Test func `joining waits for the end of its work, on a thread of its own`() throws {
    let other = Atomic<UInt>(0)
    let shared = Shared(other)
    let thread = try WorkerThread(name: "worker") {
      shared.thread.store(UInt(pthread_self()), ordering: .relaxed)
    }
    thread.join()
    let its = shared.thread.load(ordering: .relaxed)
    #expect(its != 0)
    #expect(its != UInt(pthread_self()))
  }

  private final class Shared: Sendable {
    let thread: Atomic<UInt>
    init(_ thread: consuming Atomic<UInt>) { self.thread = thread }
  }

  @Test func `its name is shown by the system, cut to 15 bytes`() throws {
    let names = try Mailbox<[UInt8]>()
    let thread = try WorkerThread(name: "a-rather-long-name") {
      let file = unsafe open("/proc/thread-self/comm", O_RDONLY)
      defer { close(file) }
      var text = [UInt8](repeating: 0, count: 32)
      let count = unsafe read(file, &text, text.count)
      names.post(Array(text.prefix(max(0, count))))
    }
    thread.join()
    var batch: [[UInt8]] = []
    names.drain(into: &batch)
    #expect(batch == [Array("a-rather-long-n\n".utf8)])
  }
}
