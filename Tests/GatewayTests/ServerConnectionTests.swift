import Testing

@testable import Gateway

@Suite struct `A connection in its loop's table` {
  @Test func `is small, since there is one for each idle client`() {
    #expect(MemoryLayout<ServerConnection>.stride <= 144)
  }
}
