internal import Glibc
internal import Platform

/// `relay verify` on the data of a relay that does not run.
struct Verification: Sendable {
  let binary: String
  let data: String

  /// Blocks until it is done.
  ///
  /// - Returns: what is wrong; `nil` if the store is whole.
  func run() throws(SystemError) -> String? {
    let output = data + ".verify"
    // What an earlier one has said is over.
    unsafe unlink(output)
    let status = ChildProgram.wait(
      for: try ChildProgram.start(
        [binary, "verify", "--data", data], bond: .kill, output: output))
    if status == 0 { return nil }
    let complaint = String(decoding: (try? BinaryFile.read(output)) ?? [], as: UTF8.self)
    return complaint.isEmpty ? "it ended with status \(status)" : complaint
  }
}
