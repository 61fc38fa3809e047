import Server

/// Input: the beginning of a connection from a proxy.
enum ProxyHeaderTarget {
  private typealias Reading = Result<ProxyHeader?, ProxyHeader.Violation>

  static func check(_ input: ArraySlice<UInt8>) throws(FuzzFinding) {
    let bytes = Array(input)
    let whole = reading(bytes)
    guard case .success(let header?) = whole else {
      // A refusal is final.
      if case .failure = whole {
        try expect(reading(bytes + [0]) == whole, "the next byte changes the refusal \(whole)")
      } else {
        try expect(bytes.count < ProxyHeader.limitBytes, "\(bytes.count) bytes are no header yet")
      }
      return
    }
    try expect(
      1...min(bytes.count, ProxyHeader.limitBytes) ~= header.length,
      "a header of \(header.length) in \(bytes.count) bytes")
    for count in [0, 1, header.length / 2, header.length - 1] {
      try expect(
        reading(Array(bytes[..<count])) == .success(nil), "\(count) bytes of \(header) are enough")
    }
    try expect(
      reading(Array(bytes[..<header.length])) == whole, "what follows \(header) changes it")
  }

  private static func reading(_ bytes: [UInt8]) -> Reading {
    Result { () throws(ProxyHeader.Violation) in try ProxyHeader.read(bytes) }
  }
}
