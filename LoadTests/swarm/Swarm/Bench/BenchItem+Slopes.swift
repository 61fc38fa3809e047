/// The growth of costs, with one loop and with two.
extension BenchItem {
  static let slopes = [1, 2].flatMap { loops in
    [
      slope("connections-memory", "connections 1 k to 18 k: memory of one", loops) {
        try $0.measureMemorySlope(&$1, loops: loops)
      },
      slope("connections-idle", "1,000 connections talk, 0 to 17 k are idle: a delivery", loops) {
        try $0.measureIdleSlope(&$1, loops: loops)
      },
      slope("connections-talking", "1 k to 18 k connections talk: a delivery", loops) {
        try $0.measureTalkingSlope(&$1, loops: loops)
      },
      slope("rooms-idle", "a room of 1,000, beside 0 to 50 k idle rooms: a delivery", loops) {
        try $0.measureIdleRoomsSlope(&$1, loops: loops)
      },
      slope("rooms-talking", "1,000 connections talk in 500 to 50 k rooms: a delivery", loops) {
        try $0.measureTalkingRoomsSlope(&$1, loops: loops)
      },
      slope("stored-delivery", "500 rooms of 2, 0 to 10 M entries stored: a delivery", loops) {
        try $0.measureStoredSlope(&$1, loops: loops)
      },
    ]
  }

  private static func slope(
    _ name: String, _ work: String, _ loops: Int,
    _ measure: @escaping @Sendable (Bench, inout BenchRow) throws -> Void
  ) -> BenchItem {
    let id = loops == 1 ? name : "two-\(name)"
    return BenchItem(ids: [id], title: work, isLong: true) { bench in
      var row = BenchRow(id, work, .times, goal: .atMost(1.2))
      row.isShared = loops > 1
      try measure(bench, &row)
      return [row]
    }
  }
}
