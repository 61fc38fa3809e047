import Testing

@testable import Relay

/// An idle connection costs what its tables have for it: these sizes are most of that.
@Suite struct `What an idle session costs` {
  @Test func `a session, its subscription and its user are small`() {
    #expect(MemoryLayout<Session>.stride <= 120)
    #expect(MemoryLayout<Subscription>.stride <= 32)
    #expect(MemoryLayout<LocalUser>.stride <= 8)
    #expect(MemoryLayout<TokenBucket>.stride <= 8)
  }
}
