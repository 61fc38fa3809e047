internal import CSQLite

/// The memory that SQLite allocates for each open file: SQLite's part, followed by a reference to
/// the handle.
enum FileSlot {
  private static let offset = unsafe MemoryLayout<sqlite3_file>.stride
  static let bytes = unsafe offset + MemoryLayout<UnsafeMutableRawPointer>.stride

  static func store(_ handle: DiskHandle, in file: UnsafeMutablePointer<sqlite3_file>) {
    unsafe UnsafeMutableRawPointer(file).storeBytes(
      of: Unmanaged.passRetained(handle).toOpaque(), toByteOffset: offset,
      as: UnsafeMutableRawPointer.self)
    unsafe file.pointee.pMethods = UnsafePointer(Methods.shared.pointer)
  }

  fileprivate static func reference(
    _ file: UnsafeMutablePointer<sqlite3_file>?
  ) -> Unmanaged<DiskHandle> {
    guard let file = unsafe file else { preconditionFailure("SQLite calls with a file") }
    let pointer = unsafe UnsafeRawPointer(file).load(
      fromByteOffset: offset, as: UnsafeMutableRawPointer.self)
    return unsafe Unmanaged<DiskHandle>.fromOpaque(pointer)
  }
}

private func handle(_ file: UnsafeMutablePointer<sqlite3_file>?) -> DiskHandle {
  unsafe FileSlot.reference(file).takeUnretainedValue()
}

/// `sqlite3_io_methods`, the same for every file.
@safe private final class Methods: Sendable {
  static let shared = Methods()
  nonisolated(unsafe) let pointer: UnsafeMutablePointer<sqlite3_io_methods>

  private init() {
    unsafe pointer = .allocate(capacity: 1)
    unsafe pointer.initialize(to: sqlite3_io_methods())
    unsafe pointer.pointee.iVersion = 2
    unsafe pointer.pointee.xClose = { file in
      unsafe handle(file).close()
      unsafe FileSlot.reference(file).release()
      return SQLITE_OK
    }
    unsafe pointer.pointee.xRead = { file, buffer, count, offset in
      let buffer = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
      return unsafe handle(file).read(buffer, at: Int(offset))
    }
    unsafe pointer.pointee.xWrite = { file, buffer, count, offset in
      let bytes = unsafe Array(UnsafeRawBufferPointer(start: buffer, count: Int(count)))
      return unsafe handle(file).write(bytes, at: Int(offset))
    }
    unsafe pointer.pointee.xTruncate = { file, size in
      unsafe handle(file).truncate(to: Int(size))
    }
    unsafe pointer.pointee.xSync = { file, _ in unsafe handle(file).sync() }
    unsafe pointer.pointee.xFileSize = { file, size in
      unsafe size?.pointee = Int64(handle(file).size)
      return SQLITE_OK
    }
    unsafe pointer.pointee.xLock = { file, level in unsafe handle(file).lock(level) }
    unsafe pointer.pointee.xUnlock = { file, level in
      unsafe handle(file).unlock(level)
      return SQLITE_OK
    }
    unsafe pointer.pointee.xCheckReservedLock = { file, result in
      unsafe result?.pointee = handle(file).isReserved ? 1 : 0
      return SQLITE_OK
    }
    unsafe pointer.pointee.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    // These two have the values of SQLite for Unix.
    unsafe pointer.pointee.xSectorSize = { _ in 4096 }
    unsafe pointer.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    unsafe pointer.pointee.xShmMap = { file, index, bytes, extend, result in
      let region = unsafe handle(file).sharedRegion(
        Int(index), bytes: Int(bytes), extend: extend != 0)
      unsafe result?.pointee = region
      return SQLITE_OK
    }
    unsafe pointer.pointee.xShmLock = { file, offset, count, flags in
      unsafe handle(file).lockShared(Int(offset)..<Int(offset + count), flags: flags)
    }
    unsafe pointer.pointee.xShmBarrier = { _ in }
    unsafe pointer.pointee.xShmUnmap = { file, deletes in
      unsafe handle(file).unmapShared(deletes: deletes != 0)
      return SQLITE_OK
    }
  }
}
