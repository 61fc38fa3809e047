import Glibc

/// The programs of this project, as they were built.
public enum Programs {
  /// Returns the path of a program, such as `relay`.
  public static func path(of program: String) -> String { "\(folder(of: program))/\(program)" }

  /// Returns the folder of a program: `TEST_BIN_DIR`, or the folder that the tests were built in.
  public static func folder(of program: String) -> String {
    if let named = environment("TEST_BIN_DIR") { return named }
    guard let folder = folders.first(where: { unsafe access("\($0)/\(program)", X_OK) == 0 }) else {
      fatalError("no program \"\(program)\" beside the tests; set TEST_BIN_DIR to its folder")
    }
    return folder
  }

  /// Returns the value of an environment variable.
  public static func environment(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  private static let folders: [String] = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
    // Some toolchains load the test bundle into their own runner, and pass the bundle's path to it.
    let candidates = [own] + CommandLine.arguments.filter { $0.contains(".xctest") }
    return candidates.map { path in
      path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
  }()
}
