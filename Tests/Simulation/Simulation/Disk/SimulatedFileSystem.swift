internal import CSQLite
internal import Glibc

/// Registers a simulated disk with SQLite as a file system (`sqlite3_vfs`), under a unique name,
/// for the lifetime of this object.
@safe final class SimulatedFileSystem {
  let name: String
  private let vfs: UnsafeMutablePointer<sqlite3_vfs>
  private let nameBytes: UnsafeMutablePointer<CChar>

  init(_ disk: SimulatedDisk, name: String) {
    self.name = name
    guard let copy = unsafe strdup(name) else { preconditionFailure("no memory is left") }
    unsafe nameBytes = copy
    unsafe vfs = .allocate(capacity: 1)
    unsafe vfs.initialize(to: sqlite3_vfs())
    unsafe vfs.pointee.iVersion = 2
    unsafe vfs.pointee.szOsFile = Int32(FileSlot.bytes)
    unsafe vfs.pointee.mxPathname = 512
    unsafe vfs.pointee.zName = UnsafePointer(nameBytes)
    unsafe vfs.pointee.pAppData = Unmanaged.passRetained(disk).toOpaque()
    unsafe vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
      unsafe open(vfs, name, file, flags, outFlags)
    }
    unsafe vfs.pointee.xDelete = { vfs, name, syncsFolder in
      let disk = unsafe diskBehind(vfs)
      if disk.isDead { return ResultCode.delete }
      if disk.nextCut() != .no {
        disk.tally.count(.deathBeforeWrite)
        disk.die()
        return ResultCode.delete
      }
      let name = unsafe string(name)
      guard disk.file(name) != nil else { return ResultCode.deleteNoEntry }
      disk.delete(name)
      if syncsFolder != 0 { disk.syncNames(of: SimulatedDisk.folder(of: name)) }
      return SQLITE_OK
    }
    unsafe vfs.pointee.xAccess = { vfs, name, flags, result in
      let disk = unsafe diskBehind(vfs)
      let file = unsafe disk.file(string(name))
      // As in SQLite for Unix, an empty file does not exist.
      let exists = flags == SQLITE_ACCESS_EXISTS ? file?.content.isEmpty == false : file != nil
      unsafe result?.pointee = exists ? 1 : 0
      return SQLITE_OK
    }
    unsafe vfs.pointee.xFullPathname = { _, name, bytes, out in
      guard let name = unsafe name, let out = unsafe out, unsafe strlen(name) < Int(bytes) else {
        return SQLITE_CANTOPEN
      }
      unsafe strcpy(out, name)
      return SQLITE_OK
    }
    unsafe vfs.pointee.xRandomness = { _, bytes, out in
      if let out = unsafe out { unsafe memset(out, 42, Int(bytes)) }
      return bytes
    }
    unsafe vfs.pointee.xSleep = { vfs, microseconds in
      unsafe diskBehind(vfs).tally.count(.waitedForLock)
      return microseconds
    }
    unsafe vfs.pointee.xCurrentTime = { vfs, now in
      unsafe now?.pointee = Double(diskBehind(vfs).wallClock) / 86_400_000 + 2_440_587.5
      return SQLITE_OK
    }
    unsafe vfs.pointee.xCurrentTimeInt64 = { vfs, now in
      unsafe now?.pointee = diskBehind(vfs).wallClock + 210_866_760_000_000
      return SQLITE_OK
    }
    unsafe vfs.pointee.xGetLastError = { _, _, _ in 0 }
    let code = unsafe sqlite3_vfs_register(vfs, 0)
    precondition(code == SQLITE_OK, "SQLite refused the file system \(name): \(code)")
  }

  /// No connection may be open when the object is released.
  deinit {
    unsafe sqlite3_vfs_unregister(vfs)
    unsafe Unmanaged<SimulatedDisk>.fromOpaque(vfs.pointee.pAppData).release()
    unsafe vfs.deallocate()
    unsafe free(nameBytes)
  }
}

private func diskBehind(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> SimulatedDisk {
  guard let data = unsafe vfs?.pointee.pAppData else {
    preconditionFailure("SQLite calls with the file system that was registered")
  }
  return unsafe Unmanaged<SimulatedDisk>.fromOpaque(data).takeUnretainedValue()
}

private func string(_ name: UnsafePointer<CChar>?) -> String {
  guard let name = unsafe name else { return "" }
  return unsafe String(cString: name)
}

private func open(
  _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
  _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
  _ outFlags: UnsafeMutablePointer<Int32>?
) -> Int32 {
  guard let file = unsafe file else { return SQLITE_CANTOPEN }
  unsafe file.pointee.pMethods = nil
  let disk = unsafe diskBehind(vfs)
  if disk.isDead { return SQLITE_CANTOPEN }
  let isTemporary = unsafe name == nil
  let name = unsafe isTemporary ? "temporary-\(disk.nextConnection())" : string(name)
  let isCreating = flags & SQLITE_OPEN_CREATE != 0
  guard let opened = disk.file(name) ?? (isCreating ? disk.create(name) : nil) else {
    return SQLITE_CANTOPEN
  }
  let journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL
  let handle = DiskHandle(
    disk, opened, name: name, syncsNames: isCreating && flags & journals != 0,
    deletesOnClose: isTemporary || flags & SQLITE_OPEN_DELETEONCLOSE != 0)
  unsafe FileSlot.store(handle, in: file)
  unsafe outFlags?.pointee = flags
  return SQLITE_OK
}
