internal import Glibc

/// The libraries that are preloaded into a relay.
enum PreloadedLibrary {
  /// Returns the path of a library.
  /// - Parameters:
  ///   - program: The folder of swarm, with a trailing slash.
  ///   - key: What of the scenario requires it.
  static func path(
    _ name: String, besides program: String, for key: String
  ) throws(Run.Failure) -> String {
    let candidates = [program + name, program + "../lib/" + name]
    guard let found = candidates.first(where: { unsafe access($0, R_OK) == 0 }) else {
      throw Run.Failure(
        description: "\(key) requires \(name), which is not in \(program):"
          + " build the whole project (make build), or install it (make install)", isUsage: true)
    }
    return found
  }
}
