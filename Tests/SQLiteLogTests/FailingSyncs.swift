import CSQLite
import Glibc

// What the functions below know, which SQLite calls.
private nonisolated(unsafe) var failingEnding = ""
private nonisolated(unsafe) var systemVFS = unsafe sqlite3_vfs()
private nonisolated(unsafe) var failingVFS = unsafe sqlite3_vfs()
private nonisolated(unsafe) var failingMethods = sqlite3_io_methods()

/// Makes the syncs of one database file fail, for every connection that this process opens from now
/// on: a file system for SQLite (`sqlite3_vfs`) before the system's own. For a process of its own.
/// - Parameter ending: how the file's path ends.
func failSyncs(ofFile ending: String) {
  guard let found = unsafe sqlite3_vfs_find(nil) else {
    preconditionFailure("SQLite has a file system")
  }
  unsafe failingEnding = ending
  unsafe systemVFS = found.pointee
  unsafe failingVFS = found.pointee
  unsafe failingVFS.pNext = nil
  unsafe failingVFS.zName = UnsafePointer(strdup("failing-syncs"))
  unsafe failingVFS.xOpen = { vfs, name, file, flags, outFlags in
    let code = unsafe systemVFS.xOpen(vfs, name, file, flags, outFlags)
    guard code == SQLITE_OK, let name = unsafe name, let file = unsafe file,
      unsafe String(cString: name).hasSuffix(failingEnding),
      let methods = unsafe file.pointee.pMethods
    else { return code }
    unsafe failingMethods = methods.pointee
    // SQLITE_IOERR_FSYNC
    unsafe failingMethods.xSync = { _, _ in SQLITE_IOERR | (4 << 8) }
    unsafe withUnsafePointer(to: &failingMethods) { unsafe file.pointee.pMethods = $0 }
    return code
  }
  let code = unsafe sqlite3_vfs_register(&failingVFS, 1)
  precondition(code == SQLITE_OK, "SQLite refused the file system: \(code)")
}
