internal import CSQLite

/// The locks of a database file, as defined by SQLite's `xLock`: any number of connections share,
/// one reserves, and one that waits for the others to leave gets it exclusively.
struct FileLocks {
  private var sharers: Set<Int> = []
  private var reserver: Int?
  private var waiter: Int?
  private var holder: Int?

  var isReserved: Bool { reserver != nil || holder != nil }

  /// - Returns: whether it was granted.
  mutating func take(_ level: Int32, for connection: Int) -> Bool {
    switch level {
    case SQLITE_LOCK_SHARED:
      if let holder, holder != connection { return false }
      if let waiter, waiter != connection { return false }
      sharers.insert(connection)
    case SQLITE_LOCK_RESERVED:
      if let reserver, reserver != connection { return false }
      reserver = connection
    default:
      if let waiter, waiter != connection { return false }
      waiter = connection
      if sharers.contains(where: { $0 != connection }) { return false }
      holder = connection
    }
    return true
  }

  mutating func release(to level: Int32, by connection: Int) {
    if reserver == connection { reserver = nil }
    if waiter == connection { waiter = nil }
    if holder == connection { holder = nil }
    if level == SQLITE_LOCK_NONE { sharers.remove(connection) }
  }
}

/// The shared memory of the connections of one database for its write-ahead log, with its locks.
@safe final class SharedMemory {
  private var regions: [UnsafeMutableRawPointer] = unsafe []
  private var holders: [Int?] = Array(repeating: nil, count: Int(SQLITE_SHM_NLOCK))
  private var sharers: [Set<Int>] = Array(repeating: [], count: Int(SQLITE_SHM_NLOCK))

  deinit {
    unsafe regions.forEach { unsafe $0.deallocate() }
  }

  func region(_ index: Int, bytes: Int, extend: Bool) -> UnsafeMutableRawPointer? {
    while unsafe regions.count <= index {
      guard extend else { return nil }
      let region = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
      unsafe region.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
      unsafe regions.append(region)
    }
    return unsafe regions[index]
  }

  /// - Returns: whether it was granted.
  func lock(_ slots: Range<Int>, exclusive: Bool, for connection: Int) -> Bool {
    for slot in slots {
      if let holder = holders[slot], holder != connection { return false }
      if exclusive, sharers[slot].contains(where: { $0 != connection }) { return false }
    }
    for slot in slots {
      if exclusive { holders[slot] = connection } else { sharers[slot].insert(connection) }
    }
    return true
  }

  func unlock(_ slots: Range<Int>, by connection: Int) {
    for slot in slots {
      if holders[slot] == connection { holders[slot] = nil }
      sharers[slot].remove(connection)
    }
  }
}
