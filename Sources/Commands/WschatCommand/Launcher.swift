import Glibc

/// Programs that are started and forgotten: a notification, a sound, a browser.
enum Launcher {
  /// Whether there is a program of this name in `$PATH`.
  static func has(_ name: String) -> Bool {
    (Environment["PATH"] ?? "").split(separator: ":").contains {
      unsafe access("\($0)/\(name)", X_OK) == 0
    }
  }

  /// Runs a program with these arguments, without a shell's interpretation.
  static func run(_ arguments: [String]) {
    // The shell that starts it ends at once, so that nobody has to wait for the program itself.
    spawn(["/bin/sh", "-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "sh"] + arguments)
  }

  /// Runs a command of the user's own; `arguments` are its `$1`, `$2` and so on.
  static func run(shell command: String, arguments: [String] = []) {
    run(["/bin/sh", "-c", command, "sh"] + arguments)
  }

  private static func spawn(_ arguments: [String]) {
    var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Signals that come by a descriptor here are blocked; its own must not be.
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
