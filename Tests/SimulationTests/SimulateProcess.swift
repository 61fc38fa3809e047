import Glibc

/// Runs the command `simulate`, from `TEST_BIN_DIR` or from where the tests were built.
enum SimulateProcess {
  struct Failure: Error { var text: String }

  /// What it prints.
  static func output(_ arguments: String) throws -> String {
    guard let pipe = unsafe popen("\(directory)/simulate \(arguments)", "r") else {
      throw Failure(text: "simulate cannot be started")
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, pipe)
      if count == 0 { break }
      bytes.append(contentsOf: chunk[..<count])
    }
    let status = unsafe pclose(pipe)
    let text = String(decoding: bytes, as: UTF8.self)
    guard status == 0 else {
      throw Failure(text: "simulate ends with \(status): \(text.suffix(500))")
    }
    return text
  }

  private static let directory: String = {
    if let named = unsafe getenv("TEST_BIN_DIR") { return unsafe String(cString: named) }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
    // Some toolchains load the bundle into a runner of theirs, and say which.
    let candidates = [own] + CommandLine.arguments.filter { $0.contains(".xctest") }
    let folders = candidates.map { path in
      path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
    guard let folder = folders.first(where: { unsafe access("\($0)/simulate", X_OK) == 0 }) else {
      fatalError("no command \"simulate\" beside the tests; name its folder in TEST_BIN_DIR")
    }
    return folder
  }()
}
