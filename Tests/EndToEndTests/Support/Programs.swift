import Glibc
import TestSupport

extension Programs {
  static var relay: String { path(of: "relay") }
  static var wschat: String { path(of: "wschat") }

  /// The folder of all commands.
  static var folder: String { folder(of: "relay") }

  /// A peer written in another language.
  static func peer(_ name: String) -> String { Project["Tests/EndToEndTests/Peers/\(name)"] }

  /// Whether a program is in PATH.
  static func isInstalled(_ program: String) -> Bool {
    (environment("PATH") ?? "").split(separator: ":").contains {
      unsafe access("\($0)/\(program)", X_OK) == 0
    }
  }
}
