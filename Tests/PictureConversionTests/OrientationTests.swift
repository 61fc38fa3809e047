import Testing

@testable import PictureConversion

@Suite struct `Orientation in Exif` {
  /// A directory with another entry first.
  private static func exif(_ value: UInt16, isLittle: Bool) -> [UInt8] {
    func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
      let bytes = (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
      return isLittle ? bytes : bytes.reversed()
    }
    let other = bytes(UInt16(0x010F)) + bytes(UInt16(2)) + bytes(UInt32(4)) + [65, 66, 67, 0]
    let entry =
      bytes(UInt16(0x0112)) + bytes(UInt16(3)) + bytes(UInt32(1)) + bytes(value) + [0, 0]
    return Array((isLittle ? "II" : "MM").utf8) + bytes(UInt16(42)) + bytes(UInt32(8))
      + bytes(UInt16(2)) + other + entry + bytes(UInt32(0))
  }

  @Test(arguments: [true, false])
  func `each value is read in either order of bytes`(isLittle: Bool) {
    for value in UInt16(1)...8 {
      #expect(
        Orientation(exif: Self.exif(value, isLittle: isLittle).span).rawValue == value)
    }
    for value in [UInt16(0), 9, 65_535] {
      #expect(Orientation(exif: Self.exif(value, isLittle: isLittle).span) == .upright)
    }
  }

  @Test func `metadata that is cut or points elsewhere is upright`() {
    let exif = Self.exif(6, isLittle: true)
    // The last four bytes would lead to another directory, two more fill the value.
    for count in 0..<exif.count - 6 {
      #expect(Orientation(exif: Array(exif.prefix(count)).span) == .upright)
    }
    for place in 4..<8 {
      var exif = exif
      exif[place] = 255
      #expect(Orientation(exif: exif.span) == .upright)
    }
  }
}
