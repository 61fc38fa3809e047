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

  @Test func `says with a part of an object how large it is`() throws {
    let server = try S3Server()
    defer { server.stop() }
    let storage = server.storage(bucket: "pages", prefix: "files/")
    try storage.put([1, 2, 3, 4], as: "four")
    let part = try storage.part(1..<3, of: "four")
    #expect(part.bytes == [2, 3] && part.size == 4)
    let rest = try storage.part(2..<100, of: "four")
    #expect(rest.bytes == [3, 4] && rest.size == 4)
    try storage.put([], as: "none")
    let empty = try storage.part(0..<16, of: "none")
    #expect(empty.bytes == [] && empty.size == 0)
    #expect(throws: StorageError.self) { try storage.part(0..<1, of: "missing") }
  }

  @Test func `lists page by page, with the times of its objects`() throws {
    let server = try S3Server()
    defer { server.stop() }
    let storage = server.storage(bucket: "pages", prefix: "files/")
    for name in ["1", "2", "3", "4"] { try storage.put([1], as: name) }
    let first = try storage.page(nil, limit: 256)
    #expect(first.objects.map(\.name) == ["1", "2", "3"])
    let storedAt = try #require(first.objects.first?.storedAt)
    #expect(storedAt > "2026-11-27T22:22:07.000Z" && storedAt.hasSuffix(".000Z"))
    let last = try storage.page(first.next, limit: 256)
    #expect(last.objects.map(\.name) == ["4"] && last.next == nil)
  }

  @Test(arguments: ["pages", "flaky"])
  func `stores an object that is larger than a part`(bucket: String) throws {
    let server = try S3Server()
    defer { server.stop() }
    let storage = server.storage(bucket: bucket, prefix: "files/")
    let size = Int64(2 * S3Storage.partBytes + 5)
    var largest = 0
    try storage.put("large", bytes: size) { range in
      largest = max(largest, range.count)
      return range.map { UInt8(truncatingIfNeeded: $0 % 251) }
    }
    #expect(largest == S3Storage.partBytes)
    let seam = Int64(S3Storage.partBytes) - 2
    let part = try storage.part(seam..<seam + 4, of: "large")
    #expect(part.size == size)
    #expect(part.bytes == (seam..<seam + 4).map { UInt8(truncatingIfNeeded: $0 % 251) })
    #expect(try storage.list() == ["large"])
  }

  @Test func `says that the service has made no object of the parts`() throws {
    let server = try S3Server()
    defer { server.stop() }
    let storage = server.storage(bucket: "partless", prefix: "")
    let error = try #require(throws: StorageError.self) {
      try storage.put("large", bytes: Int64(S3Storage.partBytes) + 1) {
        [UInt8](repeating: 0, count: $0.count)
      }
    }
    #expect(error.description.contains("InternalError"))
    #expect(try storage.list() == [])
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
    let storage = S3Server.storage(at: "http://127.0.0.1:1", bucket: "pages", prefix: "")
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

  func storage(bucket: String, prefix: String, secret: String? = nil) -> S3Storage {
    Self.storage(at: url, bucket: bucket, prefix: prefix, secret: secret)
  }

  /// - Parameter secret: `nil` = the right one.
  static func storage(
    at url: String, bucket: String, prefix: String, secret: String? = nil
  ) -> S3Storage {
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
