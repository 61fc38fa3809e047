internal import Glibc
internal import Platform

/// Runs `relay verify` on the data of a relay that is not running.
struct Verification: Sendable {
  let binary: String
  let data: String

  /// Verifies the store; blocks until it is done.
  ///
  /// - Returns: The errors found; `nil` if there are none.
  func run() throws(SystemError) -> String? {
    let output = data + ".verify"
    // Removes the output of an earlier run.
    unsafe unlink(output)
    let outcome = ChildProgram.wait(
      for: try ChildProgram.start(
        [binary, "verify", "--data", data], bond: .kill, output: output))
    if outcome == .exit(0) { return nil }
    let complaint = String(decoding: (try? WholeFile.read(output)) ?? [], as: UTF8.self)
    return complaint.isEmpty ? "it ended with \(outcome)" : complaint
  }
}
