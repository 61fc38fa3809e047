internal import Glibc

/// Folders and files that only their owner can access, whatever the umask is.
public enum PrivateFiles {
  /// The permissions of everyone but the owner.
  private static let others: mode_t = 0o077

  /// Creates a folder and its missing parents. Changes nothing about existing ones.
  public static func createFolder(_ path: String) throws(SystemError) {
    var end = path.utf8.startIndex
    while end < path.utf8.endIndex {
      let next = path.utf8.index(after: end)
      end = path.utf8[next...].firstIndex(of: UInt8(ascii: "/")) ?? path.utf8.endIndex
      let part = String(path[..<end])
      guard unsafe mkdir(part, 0o700) != 0 else { continue }
      let error = SystemError.last("mkdir \(part)")
      // An existing folder may well be inside one that is not writable.
      if unsafe access(part, F_OK) != 0 { throw error }
    }
  }

  /// Creates an empty file, or takes the permissions of others from an existing one.
  ///
  /// Never opens an existing file: closing the descriptor would release SQLite's locks on it.
  public static func createFile(_ path: String) throws(SystemError) {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor < 0 else {
      close(descriptor)
      return
    }
    let error = SystemError.last("open \(path)")
    guard error.code == EEXIST else { throw error }
    _ = try takeFromOthers(path)
  }

  /// Takes the permissions of others from a file or a folder, if it exists.
  /// - Returns: the former permissions if they were changed.
  public static func takeFromOthers(_ path: String) throws(SystemError) -> UInt32? {
    guard let mode = permissions(of: path), mode & others != 0 else { return nil }
    guard unsafe chmod(path, mode & ~others) == 0 else {
      throw SystemError.last("chmod \(path)")
    }
    return mode
  }

  /// Whether others have permissions for an existing file or folder.
  public static func isOpenToOthers(_ path: String) -> Bool {
    permissions(of: path).map { $0 & others != 0 } ?? false
  }

  private static func permissions(of path: String) -> mode_t? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  /// Reads a file that holds a secret; takes the permissions of others from it before.
  ///
  /// Does not follow a symbolic link (`ELOOP`), and takes nothing but a file (`EINVAL`) of this user
  /// (`EPERM`): another user could replace the content. Throws `EFBIG` if it is larger than the limit.
  /// - Returns: The content, and whether others could read it until now.
  public static func readSecret(
    _ path: String, limitBytes: Int
  ) throws(SystemError) -> (bytes: [UInt8], wasOpen: Bool) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError.last("stat \(path)") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SystemError("read \(path)", code: EINVAL)
    }
    guard status.st_uid == geteuid() else { throw SystemError("read \(path)", code: EPERM) }
    let wasOpen = status.st_mode & others != 0
    if wasOpen, fchmod(descriptor, status.st_mode & 0o700) != 0 {
      throw SystemError.last("chmod \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: limitBytes + 1)
    var count = 0
    while count < bytes.count {
      let read = unsafe bytes[count...].withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw SystemError.last("read \(path)") }
      if read == 0 { return (Array(bytes[..<count]), wasOpen) }
      count += read
    }
    throw SystemError("read \(path)", code: EFBIG)
  }

  /// Creates a folder as `createFolder`, or takes the permissions of others from an existing one.
  /// Throws for a symbolic link in its place (`ELOOP` or `ENOTDIR`) and for another user's (`EPERM`).
  public static func createSecretFolder(_ path: String) throws(SystemError) {
    try createFolder(path)
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError.last("stat \(path)") }
    guard status.st_uid == geteuid() else { throw SystemError("use \(path)", code: EPERM) }
    if status.st_mode & others != 0, fchmod(descriptor, status.st_mode & 0o700) != 0 {
      throw SystemError.last("chmod \(path)")
    }
  }

  /// Returns the names in a folder; `nil` if it cannot be read.
  public static func names(in folder: String) -> [String]? {
    guard let directory = unsafe opendir(folder) else { return nil }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
