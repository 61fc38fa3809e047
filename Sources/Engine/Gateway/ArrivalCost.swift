/// How long a loop works on a client that connects, until it is authenticated: its TLS handshake, above all.
/// Measured, because that depends on the machine, on what else runs there, and on the key of the certificate.
struct ArrivalCost {
  /// When this number of clients is reached, all so far count half.
  private static let memory = 4096

  private var microseconds: Int64 = 0
  private var clients: Int64 = 0

  /// Records time that was spent on clients that are not established.
  mutating func record(microseconds: Int64) {
    self.microseconds += microseconds
  }

  /// Records that a client was established.
  mutating func recordClient() {
    clients += 1
    guard clients >= Self.memory else { return }
    clients /= 2
    microseconds /= 2
  }

  /// The average of one client; 0 if there was none.
  var average: Int64 { clients > 0 ? microseconds / clients : 0 }
}
