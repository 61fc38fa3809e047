import Media

/// Input: a byte that chooses, and either a report of relay-media, or two bytes with the size that a file claims to have
/// besides its own, and the file.
enum MediaTarget {
  static func check(_ input: inout FuzzInput) throws(FuzzFinding) {
    guard input.choice() % 4 > 0 else { return try checkReport(Array(input.rest)) }
    let more = Int64(input.choice()) << (input.choice() & 48)
    try checkFile(Array(input.rest), claimedBytes: Int64(input.rest.count) + more)
  }

  private static func checkReport(_ bytes: [UInt8]) throws(FuzzFinding) {
    guard let report = PictureReport(bytes) else { return }
    try expect(bytes.count <= PictureReport.limitBytes, "a report of \(bytes.count) bytes is read")
    try expect(report.bytes == bytes, "\(report) is written as \(report.bytes)")
    guard case .processed(let picture) = report else { return }
    for side in [picture.width, picture.height] {
      try expect(1...ProcessedPicture.sideLimit ~= side, "a side of \(side)")
    }
    for side in [picture.thumbnail.width, picture.thumbnail.height] {
      try expect(1...ProcessedPicture.thumbnailSideLimit ~= side, "a thumbnail's side of \(side)")
    }
    try expect([.jpeg, .webp].contains(picture.mediaType), "a picture of \(picture.mediaType)")
  }

  private static func checkFile(
    _ file: [UInt8], claimedBytes: Int64
  ) throws(FuzzFinding) {
    let sniffed = MediaType.sniff(file.span)
    if sniffed == .text {
      try expect(
        file.first { $0 != 0x20 && !(0x09...0x0D ~= $0) } != UInt8(ascii: "<"), "markup is text")
      try expect(!file.prefix(MediaType.headLimitBytes).contains(0), "bytes of 0 are text")
    }
    // A file is asked for how long it lasts whatever it turns out to be.
    for type in MediaType.allCases {
      var readBytes = 0
      let source = MediaSource(size: claimedBytes) { offset, count in
        readBytes += count
        guard offset < Int64(file.count) else { return [] }
        return Array(file[Int(offset)...].prefix(count))
      }
      let duration = type.durationMilliseconds(of: source)
      try expect(
        readBytes <= MediaType.durationReadLimitBytes, "\(readBytes) bytes are read of \(type)")
      guard let duration else { continue }
      try expect(0...864_000_000 ~= duration, "\(type) lasts for \(duration) ms")
      try expect([.audio, .video].contains(type.kind), "\(type) lasts for \(duration) ms")
    }
  }
}
