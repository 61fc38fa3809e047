import Media

/// A format of pictures, and the library that decodes it.
protocol PictureFormat {
  /// Decodes a whole file. Its header is checked before memory is taken for its pixels.
  static func decode(_ file: [UInt8]) throws(PictureRefusal) -> DecodedPicture
}

/// A picture as its file has it.
struct DecodedPicture {
  var raster: Raster
  var orientation = Orientation.upright
  /// The ICC profile of its colours; sRGB without one.
  var profile: [UInt8] = []
  /// Whether its file has each pixel as it was.
  var isLossless: Bool

  /// More are refused.
  static let pixelsLimit = 64 << 20
  /// A longer profile is ignored.
  static let profileLimitBytes = 4 << 20

  static func check(_ width: Int, _ height: Int) throws(PictureRefusal) {
    guard width > 0, height > 0 else { throw .damaged }
    // Both have at most 32 bits.
    guard width * height <= pixelsLimit else { throw .tooManyPixels }
  }
}
