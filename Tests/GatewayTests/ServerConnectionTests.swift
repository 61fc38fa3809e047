import Glibc
import Testing
import WebSocket

@testable import Gateway

@Suite struct `A connection in its loop's table` {
  @Test func `is small, since there is one for each idle client`() {
    typealias UsableSize = @convention(c) (UnsafeMutableRawPointer?) -> Int
    let symbol = unsafe dlsym(nil, "malloc_usable_size")
    let usableSize = unsafe unsafeBitCast(symbol, to: UsableSize.self)
    // malloc may give one of them a piece of memory that is a little too large.
    let connections = (0..<64).map { _ in
      ServerConnection(
        .opening, limits: WebSocket.Limits(frameBytes: 0, messageBytes: 0, fragments: 0))
    }
    let bytes = connections.map { connection in
      unsafe usableSize(Unmanaged.passUnretained(connection).toOpaque())
    }.min()
    #expect(bytes.map { $0 <= 152 } == true)
  }
}
