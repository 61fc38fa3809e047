internal import CSQLite

/// An open file of one connection: every call of SQLite, with its result code.
final class DiskHandle {
  let disk: SimulatedDisk
  private let file: DiskFile
  private let name: String
  private let connection: Int
  private let life: Int
  private let deletesOnClose: Bool
  /// Whether the next sync also syncs the folder: like SQLite for Unix, the first sync of a new
  /// journal does.
  private var syncsNames: Bool
  private var sharedMemory: SharedMemory?

  init(
    _ disk: SimulatedDisk, _ file: DiskFile, name: String, syncsNames: Bool, deletesOnClose: Bool
  ) {
    self.disk = disk
    self.file = file
    self.name = name
    self.syncsNames = syncsNames
    self.deletesOnClose = deletesOnClose
    connection = disk.nextConnection()
    life = disk.life
  }

  /// Whether the process that opened the file is gone, or about to be.
  private var isDead: Bool { disk.isDead || disk.life != life }

  func close() {
    guard !isDead else { return }
    file.locks.release(to: SQLITE_LOCK_NONE, by: connection)
    if deletesOnClose { disk.delete(name) }
  }

  // MARK: - Content

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int32 {
    if isDead { return ResultCode.read }
    if disk.fails(disk.trouble.failingReads) {
      disk.tally.count(.readFailed)
      return ResultCode.read
    }
    let available = max(0, min(buffer.count, file.content.count - offset))
    if available > 0 {
      unsafe file.content.withUnsafeBytes { content in
        let source = unsafe UnsafeRawBufferPointer(rebasing: content[offset..<offset + available])
        unsafe buffer.copyMemory(from: source)
      }
    }
    if available == buffer.count { return SQLITE_OK }
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[available...])
    unsafe rest.initializeMemory(as: UInt8.self, repeating: 0)
    return ResultCode.shortRead
  }

  func write(_ bytes: [UInt8], at offset: Int) -> Int32 {
    if isDead { return ResultCode.write }
    disk.pause()
    disk.trace? { "disk: \(self.name) write \(bytes.count) at \(offset)" }
    switch disk.nextCut() {
    case .no: break
    case .before: return die(.deathBeforeWrite, ResultCode.write)
    case .within:
      file.write(Array(bytes.prefix(disk.part(of: bytes.count))), at: offset)
      return die(.deathWithinWrite, ResultCode.write)
    case .after:
      file.write(bytes, at: offset)
      return die(.deathAfterWrite, ResultCode.write)
    }
    if disk.trouble.isFull, offset + bytes.count > file.content.count {
      disk.tally.count(.diskFull)
      disk.trace? { "disk: it is full" }
      return SQLITE_FULL
    }
    if disk.fails(disk.trouble.failingWrites) {
      disk.tally.count(.writeFailed)
      disk.trace? { "disk: the write fails" }
      file.write(Array(bytes.prefix(disk.part(of: bytes.count))), at: offset)
      return ResultCode.write
    }
    file.write(bytes, at: offset)
    return SQLITE_OK
  }

  func truncate(to bytes: Int) -> Int32 {
    if isDead { return ResultCode.truncate }
    disk.trace? { "disk: \(self.name) truncate to \(bytes)" }
    switch disk.nextCut() {
    case .no: break
    case .before, .within: return die(.deathBeforeWrite, ResultCode.truncate)
    case .after:
      file.truncate(to: bytes)
      return die(.deathAfterWrite, ResultCode.truncate)
    }
    file.truncate(to: bytes)
    return SQLITE_OK
  }

  func sync() -> Int32 {
    if isDead { return ResultCode.fsync }
    disk.pause()
    disk.tally.count(.synced)
    disk.trace? { "disk: \(self.name) sync" }
    switch disk.nextCut(isSync: true) {
    case .no: break
    case .before: return die(.deathBeforeSync, ResultCode.fsync)
    // The loss of power decides which changes have become durable.
    case .within: return die(.deathWithinSync, ResultCode.fsync)
    case .after:
      file.sync()
      syncNames()
      return die(.deathAfterSync, ResultCode.fsync)
    }
    if disk.fails(disk.trouble.failingSyncs) {
      disk.tally.count(.syncFailed)
      disk.trace? { "disk: the sync fails" }
      disk.failSync(file)
      return ResultCode.fsync
    }
    file.sync()
    syncNames()
    return SQLITE_OK
  }

  private func syncNames() {
    if syncsNames { disk.syncNames(of: SimulatedDisk.folder(of: name)) }
    syncsNames = false
  }

  private func die(_ event: Tally.Event, _ code: Int32) -> Int32 {
    disk.tally.count(event)
    disk.trace? { "disk: \(event.rawValue)" }
    disk.die()
    return code
  }

  var size: Int { file.content.count }

  // MARK: - Locks

  func lock(_ level: Int32) -> Int32 {
    if isDead { return ResultCode.lock }
    return file.locks.take(level, for: connection) ? SQLITE_OK : SQLITE_BUSY
  }

  func unlock(_ level: Int32) {
    if !isDead { file.locks.release(to: level, by: connection) }
  }

  var isReserved: Bool { file.locks.isReserved }

  // MARK: - Shared memory

  func sharedRegion(_ index: Int, bytes: Int, extend: Bool) -> UnsafeMutableRawPointer? {
    if sharedMemory == nil {
      if file.sharedMemory == nil { file.sharedMemory = SharedMemory() }
      sharedMemory = file.sharedMemory
    }
    return unsafe sharedMemory?.region(index, bytes: bytes, extend: extend)
  }

  func lockShared(_ slots: Range<Int>, flags: Int32) -> Int32 {
    guard let sharedMemory else { return ResultCode.sharedMemoryLock }
    if flags & SQLITE_SHM_UNLOCK != 0 {
      sharedMemory.unlock(slots, by: connection)
      return SQLITE_OK
    }
    if isDead { return ResultCode.sharedMemoryLock }
    let isGranted = sharedMemory.lock(
      slots, exclusive: flags & SQLITE_SHM_EXCLUSIVE != 0, for: connection)
    return isGranted ? SQLITE_OK : SQLITE_BUSY
  }

  func unmapShared(deletes: Bool) {
    sharedMemory?.unlock(0..<Int(SQLITE_SHM_NLOCK), by: connection)
    if deletes, !isDead { file.sharedMemory = nil }
    sharedMemory = nil
  }
}
