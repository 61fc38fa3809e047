import Glibc

extension ChildProgram {
  /// Whether a program could be started by this name: a path, or a name to be found in `$PATH`, as
  /// in a shell.
  public static func exists(_ name: String) -> Bool {
    if name.utf8.contains(UInt8(ascii: "/")) { return isExecutable(name) }
    // This process never changes its environment.
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
    // An empty part stands for the working directory.
    return path.split(separator: ":", omittingEmptySubsequences: false).contains {
      isExecutable($0.isEmpty ? name : "\($0)/\(name)")
    }
  }

  private static func isExecutable(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    return unsafe access(path, X_OK) == 0
  }
}
