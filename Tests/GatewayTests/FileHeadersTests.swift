import Testing
import WebSocket

@testable import Gateway

private func request(_ fields: String..., target: String = "/v1/files/a") throws -> HTTPRequest {
  let head = (["GET \(target) HTTP/1.1", "Host: relay"] + fields + ["", ""]).joined(
    separator: "\r\n")
  return try #require(
    try HTTPRequest.read(Array(head.utf8).span, headerLimitBytes: 8192)?.request)
}

@Suite struct `The range of a file, RFC 9110 §14` {
  @Test(arguments: [
    ("bytes=0-0", 0..<1), ("bytes=5-9", 5..<10), ("bytes=5-", 5..<100), ("bytes=-7", 93..<100),
    ("bytes=-700", 0..<100), ("bytes=90-999", 90..<100),
    ("Bytes=99-99999999999999999999", 99..<100),
  ])
  func `is a part`(field: String, part: Range<Int64>) throws {
    #expect(
      ByteRange(try request("Range: \(field)"), size: 100, tag: "\"t\"") == .part(part))
  }

  @Test(arguments: [
    "bytes=", "bytes=-", "bytes=a-b", "bytes=9-5", "bytes=0-1,5-6", "lines=0-1", "bytes=1-2-3",
    "bytes=+1-2",
  ])
  func `that cannot be read stands for the whole file`(field: String) throws {
    #expect(ByteRange(try request("Range: \(field)"), size: 100, tag: "\"t\"") == .whole)
  }

  @Test(arguments: ["bytes=100-", "bytes=-0", "bytes=99999999999999999999-"])
  func `beyond the end cannot be satisfied`(field: String) throws {
    #expect(ByteRange(try request("Range: \(field)"), size: 100, tag: "\"t\"") == .unsatisfiable)
  }

  @Test func `counts only if the file is the one that the client has a part of`() throws {
    let fields = ["Range: bytes=0-1", "If-Range: \"other\""]
    #expect(ByteRange(try request(fields[0], fields[1]), size: 9, tag: "\"t\"") == .whole)
    #expect(
      ByteRange(try request(fields[0], "If-Range: \"t\""), size: 9, tag: "\"t\"") == .part(0..<2))
  }

  @Test func `of an empty file cannot be satisfied`() throws {
    #expect(
      ByteRange(try request("Range: bytes=0-"), size: 0, tag: "\"t\"") == .unsatisfiable)
  }
}

@Suite struct `What a browser does with a file` {
  @Test(arguments: [
    (nil, "attachment"), ("a.txt", "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt"),
    ("é\".txt", "attachment; filename=\"__.txt\"; filename*=UTF-8''%C3%A9%22.txt"),
    ("a\\%41;b", "attachment; filename=\"a__41;b\"; filename*=UTF-8''a%5C%2541%3Bb"),
    ("a\r\nX: y", "attachment"), ("a/b", "attachment"), ("..", "attachment"),
  ])
  func `a name stays inside its value`(name: String?, value: String) {
    #expect(ContentDisposition.value(isInline: false, name: name) == value)
  }

  @Test(arguments: [
    ("image/jpeg", "image/jpeg", true), ("video/mp4", "video/mp4", true),
    ("image/svg+xml", "application/octet-stream", false),
    ("text/html", "text/plain; charset=utf-8", false),
    ("application/pdf", "application/octet-stream", false),
  ])
  func `only pictures, sound and video are shown`(type: String, served: String, isInline: Bool) {
    let found = ServedType(type)
    #expect(found.name == served)
    #expect(found.isInline == isInline)
  }
}

@Suite struct `A link to a file` {
  private static let code: FileLink.Code = { text in
    text.utf8.reversed().prefix(32).map { $0 &* 7 }
  }

  @Test func `is good for its file, its user and its time`() throws {
    let link = FileLink(to: "f", for: "ada b&c", until: 1000, Self.code)
    let read = try #require(FileLink(try request(target: "/v1/files/f?\(link.query)")))
    #expect(read == link)
    #expect(read.isValid(for: "f", now: 999, Self.code))
    #expect(!read.isValid(for: "f", now: 1000, Self.code))
    #expect(!read.isValid(for: "g", now: 999, Self.code))
    var forged = read
    forged.user = "bo"
    #expect(!forged.isValid(for: "f", now: 999, Self.code))
    forged = read
    forged.until += 1
    #expect(!forged.isValid(for: "f", now: 999, Self.code))
    forged = read
    forged.signature = ""
    #expect(!forged.isValid(for: "f", now: 999, Self.code))
  }
}

@Suite struct `A time in HTTP` {
  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (1_798_761_599_999, "Thu, 31 Dec 2026 23:59:59 GMT"),
    (4_107_542_400_000, "Mon, 01 Mar 2100 00:00:00 GMT"),
  ])
  func `is as RFC 9110 §5.6.7 has it`(milliseconds: Int64, text: String) {
    #expect(HTTPDate.text(milliseconds) == text)
  }
}
