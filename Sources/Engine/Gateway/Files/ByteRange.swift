package import WebSocket

/// The part of a file that `Range` asks for (RFC 9110 §14).
package enum ByteRange: Equatable {
  case whole
  case part(Range<Int64>)
  /// It begins after the end: 416.
  case unsatisfiable

  /// - Parameters:
  ///   - size: of the file, in bytes.
  ///   - tag: that of the file. `If-Range` with another one asks for the whole file (§13.1.5), as do several
  ///     ranges and what cannot be read (§14.2).
  package init(_ request: HTTPRequest, size: Int64, tag: String) {
    self = .whole
    guard let text = request.headers.only("Range"), text.lowercased().hasPrefix("bytes=") else {
      return
    }
    if !request.headers["If-Range"].isEmpty, request.headers.only("If-Range") != tag { return }
    let ends = text.dropFirst("bytes=".count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
      return
    }
    switch (Self.number(ends[0]), Self.number(ends[1])) {
    case (let first?, let last?) where last < first: return
    case (let first?, let last):
      let end = last.map { min(size, $0 + 1) } ?? size
      self = first < size ? .part(first..<end) : .unsatisfiable
    case (nil, let count?):
      self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
    case (nil, nil): return
    }
  }

  /// The number of digits; one that is too large for any file becomes the largest.
  private static func number(_ digits: Substring) -> Int64? {
    digits.isEmpty ? nil : Int64(digits).map { min($0, .max - 1) } ?? .max - 1
  }
}
