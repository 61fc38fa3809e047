import Glibc

/// Starts programs without waiting for them: a notification, a sound, a browser.
enum Launcher {
  /// Whether there is a program of this name in `$PATH`.
  static func has(_ name: String) -> Bool {
    (Environment["PATH"] ?? "").split(separator: ":").contains {
      unsafe access("\($0)/\(name)", X_OK) == 0
    }
  }

  /// Runs a program with these arguments, which no shell interprets.
  static func run(_ arguments: [String]) {
    // The shell that starts the program exits at once, so the program needs no wait(2).
    spawn(["/bin/sh", "-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "sh"] + arguments)
  }

  /// Runs a shell command of the user; `arguments` are its `$1`, `$2` and so on.
  static func run(shell command: String, arguments: [String] = []) {
    run(["/bin/sh", "-c", command, "sh"] + arguments)
  }

  private static func spawn(_ arguments: [String]) {
    var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // This process blocks signals that it receives through a descriptor; the child must not.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let code = unsafe posix_spawn(
      &process, arguments[0], nil, &attributes, &pointers, environ)
    guard code == 0 else { return }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
  }
}
