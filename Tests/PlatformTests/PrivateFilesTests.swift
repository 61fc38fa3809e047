import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite struct `Files with secrets` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func shell(_ script: String) throws {
    let process = try ChildProcess(["sh", "-ec", "cd \"$0\"; \(script)", folder.path], input: "")
    #expect(try process.wait() == .exit(0), "\(process.errors)")
  }

  private func refusal(of name: String, limitBytes: Int = 100) -> Int32? {
    do throws(SystemError) {
      _ = try PrivateFiles.readSecret(folder[name], limitBytes: limitBytes)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `are read, and closed to others before`() throws {
    try folder.write("secret", to: "token")
    try shell("chmod 644 token")
    let first = try PrivateFiles.readSecret(folder["token"], limitBytes: 100)
    #expect(first.bytes == Array("secret".utf8))
    #expect(first.wasOpen)
    #expect(try folder.permissions(of: "token") == 0o600)
    #expect(try !PrivateFiles.readSecret(folder["token"], limitBytes: 100).wasOpen)
  }

  @Test func `are no links, pipes, folders or long files`() throws {
    try folder.write("secret", to: "token")
    try shell("ln -s token link; mkfifo pipe; mkdir folder")
    #expect(refusal(of: "link") == ELOOP)
    #expect(refusal(of: "pipe") == EINVAL)
    #expect(refusal(of: "folder") == EINVAL)
    #expect(refusal(of: "missing") == ENOENT)
    #expect(refusal(of: "token", limitBytes: 6) == nil)
    #expect(refusal(of: "token", limitBytes: 5) == EFBIG)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func `are not another user's`() throws {
    try folder.write("secret", to: "token")
    try shell("mkdir theirs; chown 65534 token theirs")
    #expect(refusal(of: "token") == EPERM)
    #expect(throws: SystemError("use \(folder["theirs"])", code: EPERM)) {
      try PrivateFiles.createSecretFolder(folder["theirs"])
    }
  }

  @Test func `are in a folder that others cannot enter, and that is no link`() throws {
    try PrivateFiles.createSecretFolder(folder["a/b"])
    #expect(try folder.permissions(of: "a/b") == 0o700)
    try shell("chmod 755 a/b; ln -s a/b link")
    try PrivateFiles.createSecretFolder(folder["a/b"])
    #expect(try folder.permissions(of: "a/b") == 0o700)
    #expect(throws: SystemError.self) {
      try PrivateFiles.createSecretFolder(folder["link"])
    }
  }
}
