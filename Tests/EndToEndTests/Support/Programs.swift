import Glibc

/// Where the commands under test are, and what speaks with them.
enum Programs {
  static var relay: String { "\(directory)/relay" }
  static var wschat: String { "\(directory)/wschat" }

  /// The folder of this package.
  static var package: String { parent(of: #filePath, levels: 4) }

  /// A peer written in another language.
  static func peer(_ name: String) -> String {
    "\(parent(of: #filePath, levels: 2))/Peers/\(name)"
  }

  /// A variable of the environment.
  static func environment(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Whether a program is in PATH.
  static func isInstalled(_ program: String) -> Bool {
    (environment("PATH") ?? "").split(separator: ":").contains {
      unsafe access("\($0)/\(program)", X_OK) == 0
    }
  }

  /// `TEST_BIN_DIR`, or where the tests themselves were built.
  static let directory: String = {
    if let named = environment("TEST_BIN_DIR") { return named }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
    // Some toolchains load the bundle into a runner of theirs, and say which.
    let candidates = [own] + CommandLine.arguments.filter { $0.contains(".xctest") }
    let folders = candidates.map { parent(of: $0, levels: 1) }
    guard let folder = folders.first(where: { unsafe access("\($0)/relay", X_OK) == 0 }) else {
      fatalError("no command \"relay\" beside the tests; name its folder in TEST_BIN_DIR")
    }
    return folder
  }()

  private static func parent(of path: String, levels: Int) -> String {
    var path = path[...]
    for _ in 0..<levels {
      path = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
    }
    return String(path)
  }
}
