import Gateway
import WebSocket
import Wire

/// Input: a byte with the size of a file, then the header lines of a request.
enum FileRequestTarget {
  private static let sizes: [Int64] = [0, 1, 1000, .max]
  private static let tag = "\"t\""

  static func check(_ input: inout FuzzInput) throws(FuzzFinding) {
    let size = sizes[Int(input.choice() & 3)]
    guard let request = request(input.rest) else { return }
    try checkRange(request, size)
    try checkUpload(request)
    let accepted = WeightedValues(request.headers.list("Accept"))
    for name in ["image/png", "image/webp"] {
      let weight = accepted.weight(name, "image/*", "*/*")
      try expect(0...1000 ~= weight, "\(name) has a weight of \(weight)")
    }
    let name = request.headers.only("Name")
    try checkDisposition(ContentDisposition.value(isInline: false, name: name))
  }

  private static func request(_ lines: ArraySlice<UInt8>) -> HTTPRequest? {
    let head =
      Array("PATCH /v1/files/f HTTP/1.1\r\nHost: a\r\n".utf8) + lines + Array("\r\n\r\n".utf8)
    return (try? HTTPRequest.read(head.span, headerLimitBytes: 0))?.request
  }

  // MARK: Range

  private static func checkRange(_ request: HTTPRequest, _ size: Int64) throws(FuzzFinding) {
    guard case .part(let part) = ByteRange(request, size: size, tag: tag) else { return }
    try expect(
      part.lowerBound >= 0 && part.upperBound <= size && !part.isEmpty, "\(part) of \(size) bytes")
    let written = "Range: bytes=\(part.lowerBound)-\(part.upperBound - 1)"
    let again = self.request(Array(written.utf8)[...]).map { ByteRange($0, size: size, tag: tag) }
    try expect(again == .part(part), "\(written) is read as \(String(describing: again))")
  }

  // MARK: tus

  private static func checkUpload(_ request: HTTPRequest) throws(FuzzFinding) {
    for name in ["Upload-Length", "Upload-Offset"] {
      guard let length = try? Tus.length(name, request) else { continue }
      try expect(length >= 0, "\(name) is \(length)")
      let digits = request.headers.only(name)?.drop { $0 == "0" } ?? ""
      try expect(
        length == 0 ? digits.isEmpty : digits == String(length), "\(digits) is read as \(length)")
    }
    if let checksum = try? UploadChecksum(request) {
      try expect(
        checksum.digest.count == checksum.algorithm.digestBytes,
        "a digest of \(checksum.digest.count) bytes is accepted")
    }
    guard let metadata = try? Tus.metadata(request), !metadata.isEmpty else { return }
    try expect(
      metadata.utf8.count <= Tus.metadataLimitBytes, "\(metadata.utf8.count) bytes are accepted")
    // HEAD repeats it.
    let again = self.request(Array("Upload-Metadata: \(metadata)".utf8)[...])
    try expect(
      again.map { (try? Tus.metadata($0)) != nil } == true,
      "\(metadata) is refused when it is repeated")
  }

  // MARK: Names

  /// A name does not end its value, nor the line.
  private static func checkDisposition(_ value: String) throws(FuzzFinding) {
    try expect(value.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "a header has the value \(value)")
    try expect(
      value == "attachment" || value.utf8.count { $0 == UInt8(ascii: "\"") } == 2,
      "quotation marks are in \(value)")
  }
}
