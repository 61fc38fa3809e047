/// The measured cost of a write to a socket, from which follows how long a fan-out takes.
struct WriteCost {
  private(set) var nanoseconds: Int64 = 4000

  /// Records the duration of a `flush` to a number of connections.
  mutating func record(connections: Int, nanoseconds total: Int64) {
    // Few connections tell little, and stalls of the machine nothing at all.
    guard connections >= 32 else { return }
    let each = min(100_000, total / Int64(connections))
    nanoseconds = (nanoseconds * 7 + each) / 8
  }

  /// The duration of a fan-out to a number of connections, in microseconds.
  func microseconds(connections: Int) -> Int64 { Int64(connections) * nanoseconds / 1000 }
}
