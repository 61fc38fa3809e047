internal import Glibc
internal import Mailbox

/// `relay verify` on the data of a relay that does not run.
struct Verification: Sendable {
  let binary: String
  let data: String

  /// Blocks until it is done.
  ///
  /// - Returns: what is wrong; `nil` if the store is whole.
  func run() throws(SystemError) -> String? {
    let output = data + ".verify"
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let flags = O_WRONLY | O_CREAT | O_TRUNC
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let words = [binary, "verify", "--data", data]
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var id = pid_t()
    let code = unsafe posix_spawn(&id, binary, &actions, nil, &arguments, environ)
    guard code == 0 else { throw SystemError("start \(binary)", code: code) }
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
    if status == 0 { return nil }
    let complaint = String(decoding: (try? BinaryFile.read(output)) ?? [], as: UTF8.self)
    return complaint.isEmpty ? "it ended with status \(status)" : complaint
  }
}
