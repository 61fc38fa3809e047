import Wire

/// What retention reads of a store in memory.
extension MemoryStore: RetentionSource {
  package mutating func newestEntryAt() throws(StoreFailure) -> Int64? {
    rooms.values.compactMap { $0.entries.last?.at }.max()
  }

  package mutating func retainedRooms(
    after number: Int64, limit: Int
  ) throws(StoreFailure) -> [RetainedRoom] {
    // Rooms are numbered from 1 on.
    (number + 1..<max(number + 1, Int64(numbers.count) + 1)).prefix(limit).compactMap { number in
      rooms[number].map {
        RetainedRoom(number: number, name: $0.name, first: $0.first, head: $0.head)
      }
    }
  }

  package mutating func retainedEntries(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [RetainedEntry] {
    seqs.compactMap { seq in
      rooms[number]?.entry(seq).map {
        RetainedEntry(seq: seq, at: $0.at, bytes: Int64($0.body.count))
      }
    }
  }
}
