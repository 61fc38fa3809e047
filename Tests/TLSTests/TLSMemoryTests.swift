import COpenSSL
import Glibc
import TLS
import TestSupport
import Testing

/// OpenSSL without memory. It accepts an allocator only before its first allocation: so each test
/// is a process of its own.
@Suite struct `TLS without memory` {
  /// Every allocation of OpenSSL in turn is refused, from the first connection of a process on: the
  /// context or the session reports the failure, and the process survives.
  @Test func `costs a connection, and never the process`() async throws {
    let certificates = try Certificates()
    let isSet = unsafe setenv("TLS_MEMORY_TEST", certificates.folder.path, 1) == 0
    try #require(isSet)
    await #expect(processExitsWith: .success) {
      try TLSWithoutMemory.run()
    }
  }
}

/// Runs in that process, which must not have used OpenSSL before.
private enum TLSWithoutMemory {
  static func run() throws {
    try FailingAllocator.install()
    let folder = try #require(unsafe getenv("TLS_MEMORY_TEST").map { unsafe String(cString: $0) })
    func makeServer() -> TLSContext? {
      try? TLSContext(certificate: "\(folder)/server.pem", key: "\(folder)/server.key")
    }
    // OpenSSL initializes itself only once.
    let server = try #require(makeServer())
    let client = try TLSContext(trusting: .authorities(file: "\(folder)/ca.pem"))
    var refusedContexts = 0
    var granted = 0
    repeat {
      FailingAllocator.refuse(after: granted)
      // There are thousands: a sample is enough.
      granted += 1 + granted / 16
      if makeServer() == nil { refusedContexts += 1 }
      FailingAllocator.grant()
    } while FailingAllocator.hasRefused
    try #require(refusedContexts > 10, "\(refusedContexts)")

    var outcomes: (none: Int, failed: Int, open: Int) = (0, 0, 0)
    granted = 0
    repeat {
      FailingAllocator.refuse(after: granted)
      granted += 1 + granted / 32
      guard var atServer = TLSSession(server: server),
        var atClient = TLSSession(client: client, host: "localhost")
      else {
        FailingAllocator.grant()
        outcomes.none += 1
        continue
      }
      var (toServer, toClient): ([UInt8], [UInt8]) = ([], [])
      atClient.begin(output: &toServer)
      for _ in 0..<8 {
        let (up, down) = (toServer, toClient)
        (toServer, toClient) = ([], [])
        if !up.isEmpty { _ = atServer.receive(up[...], answer: &toClient) }
        if !down.isEmpty { _ = atClient.receive(down[...], answer: &toServer) }
      }
      _ = atServer.sendAll([1, 2, 3], output: &toClient)
      _ = atClient.receive(toClient[...], answer: &toServer)
      atServer.close(output: &toClient)
      FailingAllocator.grant()
      if case .failed = atServer.state {
        outcomes.failed += 1
      } else {
        outcomes.open += 1
      }
    } while FailingAllocator.hasRefused
    try #require(outcomes.none > 3 && outcomes.failed > 3 && outcomes.open > 0, "\(outcomes)")
  }
}

/// An allocator for OpenSSL that can be told to refuse. Used by one thread.
private enum FailingAllocator {
  /// The number of allocations that are granted until one is refused; `nil` = all.
  nonisolated(unsafe) private static var granted: Int?
  nonisolated(unsafe) private static var refused = false

  static var hasRefused: Bool { unsafe refused }

  static func install() throws {
    let isInstalled = unsafe CRYPTO_set_mem_functions(
      { count, _, _ in unsafe FailingAllocator.refuses ? nil : malloc(count) },
      { pointer, count, _, _ in unsafe FailingAllocator.refuses ? nil : realloc(pointer, count) },
      { pointer, _, _ in unsafe free(pointer) })
    try #require(isInstalled == 1, "OpenSSL has allocated before")
  }

  /// Refuses the one allocation after this number of others.
  static func refuse(after count: Int) {
    unsafe granted = count
    unsafe refused = false
  }

  /// Refuses no more allocations.
  static func grant() { unsafe granted = nil }

  private static var refuses: Bool {
    guard let left = unsafe granted else { return false }
    unsafe granted = left == 0 ? nil : left - 1
    if left == 0 { unsafe refused = true }
    return left == 0
  }
}
