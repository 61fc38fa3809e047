import CSQLite
import Glibc

// The state of the functions below, which SQLite calls. Not global variables of the structures:
// Swift 6.3 gives a C structure's initial value no padding there, so that the next global overlaps it.
private nonisolated(unsafe) var failingEnding = ""
private nonisolated(unsafe) let systemVFS = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
private nonisolated(unsafe) let failingVFS = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
private nonisolated(unsafe) let failingMethods =
  UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)

/// Makes the syncs of one database file fail, for every connection that this process opens from now
/// on: a file system for SQLite (`sqlite3_vfs`) before the system's own. For a process of its own.
/// - Parameter ending: how the file's path ends.
func failSyncs(ofFile ending: String) {
  guard let found = unsafe sqlite3_vfs_find(nil) else {
    preconditionFailure("SQLite has a file system")
  }
  unsafe failingEnding = ending
  unsafe systemVFS.initialize(to: found.pointee)
  unsafe failingVFS.initialize(to: found.pointee)
  unsafe failingVFS.pointee.pNext = nil
  unsafe failingVFS.pointee.zName = UnsafePointer(strdup("failing-syncs"))
  unsafe failingVFS.pointee.xOpen = { vfs, name, file, flags, outFlags in
    let code = unsafe systemVFS.pointee.xOpen(vfs, name, file, flags, outFlags)
    guard code == SQLITE_OK, let name = unsafe name, let file = unsafe file,
      unsafe String(cString: name).hasSuffix(failingEnding),
      let methods = unsafe file.pointee.pMethods
    else { return code }
    unsafe failingMethods.initialize(to: methods.pointee)
    // SQLITE_IOERR_FSYNC
    unsafe failingMethods.pointee.xSync = { _, _ in SQLITE_IOERR | (4 << 8) }
    unsafe file.pointee.pMethods = UnsafePointer(failingMethods)
    return code
  }
  let code = unsafe sqlite3_vfs_register(failingVFS, 1)
  precondition(code == SQLITE_OK, "SQLite refused the file system: \(code)")
}
