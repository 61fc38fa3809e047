import Glibc
import ObjectStorage
import TestSupport
import Testing

/// What only S3 does; `s3_server.py` plays it.
@Suite struct `S3 storage` {
  @Test func `with other names below its prefix lists its own`() throws {
    let server = try S3Server()
    defer { server.stop() }
    let outer = server.storage(bucket: "pages", prefix: "a b/+&%ü/")
    let inner = server.storage(bucket: "pages", prefix: "a b/+&%ü/inner/")
    for name in ["1", "2", "3", "4", "5", "6", "7"] { try outer.put([1], as: name) }
    try inner.put([2], as: "1")
    #expect(try outer.list() == ["1", "2", "3", "4", "5", "6", "7"])
    #expect(try inner.list() == ["1"])
    #expect(try inner.get("1", nil) == [2])
  }

  @Test func `tries again when the service fails, and goes on`() throws {
    let server = try S3Server()
    defer { server.stop() }
    let storage = server.storage(bucket: "flaky", prefix: "")
    try storage.put([1, 2, 3], as: "one")
    #expect(try storage.get("one", 1..<2) == [2])
    #expect(try storage.list() == ["one"])
    try storage.delete("one")
  }

  private func error(_ bucket: String, secret: String? = nil) throws -> StorageError {
    let server = try S3Server()
    defer { server.stop() }
    let storage = server.storage(bucket: bucket, prefix: "", secret: secret)
    return try #require(throws: StorageError.self) { try storage.put([1], as: "one") }
  }

  @Test func `says what to do if it is refused`() throws {
    let wrong = try error("pages", secret: "a secret that nobody may see")
    #expect(wrong.kind == .refused)
    #expect(wrong.description.contains("SignatureDoesNotMatch"))
    #expect(wrong.description.contains("Check AWS_ACCESS_KEY_ID"))
    #expect(!wrong.description.contains("nobody may see"))
    #expect(try error("absent").description.contains("There is no bucket absent"))
    #expect(try error("elsewhere").description.contains("--region"))
  }

  @Test func `that is down for long is unavailable`() throws {
    let down = try error("down")
    #expect(down.kind == .unavailable)
    #expect(down.description.contains("503"))
  }

  @Test func `that nothing listens for is unavailable`() throws {
    let server = try S3Server()
    server.stop()
    let storage = server.storage(bucket: "pages", prefix: "")
    let error = #expect(throws: StorageError.self) { try storage.list() }
    #expect(error?.kind == .unavailable)
  }
}

/// A service like S3, as a process.
final class S3Server {
  private let process: ChildProcess
  private let url: String

  init() throws {
    process = try ChildProcess(
      ["/usr/bin/python3", "-B", Project["Tests/EndToEndTests/Peers/s3_server.py"]], input: "")
    try process.waitForOutput { $0.hasSuffix("\n") }
    url = String(process.output.dropLast())
  }

  func stop() {
    process.signal(SIGKILL)
    _ = try? process.wait()
  }

  /// - Parameter secret: `nil` = the right one.
  func storage(bucket: String, prefix: String, secret: String? = nil) -> S3Storage {
    let environment = [
      "AWS_ACCESS_KEY_ID": "AKIDOFTESTS", "AWS_SECRET_ACCESS_KEY": secret ?? "the/secret+of=tests",
      "AWS_SESSION_TOKEN": "a/token+of=tests",
    ]
    guard let credentials = S3Credentials(environment) else {
      preconditionFailure("the environment has both")
    }
    return S3Storage(
      .init(bucket: bucket, prefix: prefix, region: "eu-test-1", endpoint: url), credentials)
  }
}
