import Platform
import Testing

@testable import Backups

@Suite struct `The rate of a backup` {
  @Test func `waits until what was read is within the rate`() {
    var pacer = Pacer(bytesPerSecond: 1_000_000)
    let began = Instant.now()
    for _ in 0..<4 {
      pacer.record(50_000)
      pacer.wait()
    }
    #expect(Instant.now().milliseconds(since: began) >= 200)
  }

  @Test func `does not make up for a pause`() {
    var pacer = Pacer(bytesPerSecond: 1_000_000)
    Pacer.sleep(until: .now().adding(milliseconds: 100))
    let began = Instant.now()
    pacer.record(50_000)
    pacer.wait()
    #expect(Instant.now().milliseconds(since: began) >= 50)
  }

  @Test(arguments: [1, 1000, 50_000_000, .max])
  func `reads a small part of a second's bytes at once`(rate: Int) {
    let slice = Pacer(bytesPerSecond: rate).sliceBytes
    #expect((1...max(1, rate / 8)).contains(slice) && slice <= 4 << 20)
  }
}
