import TestSupport
import Testing

@testable import Imports

@Suite struct `A ZIP archive` {
  private let export: ExportFixture

  init() throws { export = try ExportFixture() }

  private func content(_ name: String, of path: String) throws -> String {
    let bytes = try ExportFiles(path).open(name).all(limitBytes: 1 << 24)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `has packed and unpacked files, of any size`() throws {
    let path = try export.archive(
      """
      z.writestr('a/stored', 'as it is', zipfile.ZIP_STORED)
      z.writestr('a/é', 'packed')
      z.writestr('empty', '')
      z.writestr('large', 'line\\n' * 300000)
      z.writestr(zipfile.ZipInfo('folder/'), '')
      """)
    #expect(try ExportFiles(path).names == ["a/stored", "a/é", "empty", "large"])
    #expect(try content("a/stored", of: path) == "as it is")
    #expect(try content("a/é", of: path) == "packed")
    #expect(try content("empty", of: path) == "")
    #expect(try content("large", of: path).utf8.count == 1_500_000)
  }

  @Test func `of ZIP64, and with a comment, is read`() throws {
    let path = try export.archive(
      """
      zipfile.ZIP64_LIMIT = 10
      zipfile.ZIP_FILECOUNT_LIMIT = 1
      z.comment = b'PK' * 1000
      with z.open('a', 'w', force_zip64=True) as f: f.write(b'long enough to be wide')
      z.writestr('b', 'second')
      """)
    #expect(try content("a", of: path) == "long enough to be wide")
    #expect(try content("b", of: path) == "second")
  }

  @Test func `names that lead elsewhere are names, and nothing is written`() throws {
    let path = try export.archive("z.writestr('../../users.json', '[]')\nz.writestr('/etc/x', '')")
    #expect(try ExportFiles(path).names == ["../../users.json", "/etc/x"])
    #expect(export.folder.names.sorted() == ["export.zip", "make.py"])
  }

  @Test func `that would be far larger unpacked is refused`() throws {
    let path = try export.archive(
      "for n in range(20): z.writestr('%d.json' % n, '0' * (1 << 24))")
    let failure = export.failure(.slack, path)
    #expect(failure?.reason.hasPrefix("would be more than 200 times as large") == true)
  }

  @Test func `a file that is larger than its list says is damaged`() throws {
    let path = try export.archive("z.writestr('channels.json', '[' + ' ' * 5000 + ']')")
    var bytes = try readBytes(path)
    // The length in the list at the end, whose signature is PK 1 2.
    let list = try #require(bytes.lastRange(of: [0x50, 0x4B, 1, 2]))
    bytes[list.lowerBound + 24] = 1
    bytes[list.lowerBound + 25] = 0
    try export.folder.write(bytes, to: "export.zip")
    #expect(export.failure(.slack, path)?.reason.hasPrefix("is damaged in its archive") == true)
  }

  @Test func `a changed bit of its content is noticed`() throws {
    let path = try export.archive(
      "z.writestr('channels.json', '[]   ', zipfile.ZIP_STORED)")
    var bytes = try readBytes(path)
    let place = try #require(bytes.lastRange(of: Array("[]   ".utf8))).lowerBound
    bytes[place + 3] ^= 0x29
    try export.folder.write(bytes, to: "export.zip")
    #expect(export.failure(.slack, path)?.reason.hasPrefix("is damaged in its archive") == true)
  }

  @Test func `that is encrypted, or packed otherwise, is refused with what to do`() throws {
    let packed = try export.archive("z.writestr('channels.json', '[]', zipfile.ZIP_LZMA)")
    #expect(export.failure(.slack, packed)?.reason.contains("pack it by deflate") == true)
    let path = try export.archive("z.writestr('channels.json', '[]')")
    var bytes = try readBytes(path)
    let list = try #require(bytes.lastRange(of: [0x50, 0x4B, 1, 2]))
    bytes[list.lowerBound + 8] |= 1
    try export.folder.write(bytes, to: "export.zip")
    #expect(export.failure(.slack, path)?.reason.hasPrefix("is encrypted") == true)
  }

  @Test func `cut or changed anywhere it is refused or read, and breaks nothing`() throws {
    let path = try export.archive(
      "z.writestr('channels.json', '[{\"id\":\"C1\",\"name\":\"a\"}]')\nz.writestr('a/1.json', '[]')"
    )
    let whole = try readBytes(path)
    for length in 0..<whole.count {
      try export.folder.write(Array(whole[..<length]), to: "export.zip")
      _ = export.failure(.slack, path)
    }
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 0xFF
      try export.folder.write(bytes, to: "export.zip")
      _ = export.failure(.slack, path)
    }
    try export.folder.write(whole, to: "export.zip")
    #expect(export.failure(.slack, path) == nil)
  }

  @Test func `a file that is read whole is not larger than the limit`() throws {
    let path = try export.archive("z.writestr('a', 'x' * 11)")
    let files = try ExportFiles(path)
    #expect(try files.open("a").all(limitBytes: 11).count == 11)
    let error = #expect(throws: UnreadableExport.self) {
      try files.open("a").all(limitBytes: 10)
    }
    #expect(error?.reason == "is larger than 10 bytes")
  }

  @Test func `a folder is not too deep, and a pipe is no file`() throws {
    let deep = (0...ImportLimits.folderDepth).map { "\($0)/" }.joined()
    try export.write("", to: "\(deep)x.log")
    #expect(throws: UnreadableExport.self) { try ExportFiles(export.path) }
    try run("mkfifo", export.folder["pipe"])
    let error = #expect(throws: UnreadableExport.self) { try ExportFiles(export.folder["pipe"]) }
    #expect(error?.reason == "is no file")
  }

  @Test func `a folder may have links, which are not followed`() throws {
    try export.write("[]", to: "channels.json")
    try run("ln", "-s", "/etc/passwd", "\(export.path)/groups.json")
    #expect(try ExportFiles(export.path).names == ["channels.json"])
    #expect(throws: UnreadableExport.self) { try ExportFiles(export.folder["none"]) }
  }
}

extension [UInt8] {
  fileprivate func lastRange(of part: [UInt8]) -> Range<Int>? {
    guard count >= part.count else { return nil }
    for start in (0...(count - part.count)).reversed()
    where self[start..<(start + part.count)].elementsEqual(part) {
      return start..<(start + part.count)
    }
    return nil
  }
}
