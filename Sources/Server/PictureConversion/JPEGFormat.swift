import CTurboJPEG
import Media

/// JPEG, by TurboJPEG's interface of libjpeg-turbo, whose errors are results and no jumps.
enum JPEGFormat: PictureFormat {
  private static let quality: Int32 = 85

  static func decode(_ file: [UInt8]) throws(PictureRefusal) -> DecodedPicture {
    guard let decoder = unsafe tjInitDecompress() else { throw .damaged }
    defer { unsafe tjDestroy(decoder) }
    var (width, height, subsampling, colors): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    let code = unsafe tjDecompressHeader3(
      decoder, file, UInt(file.count), &width, &height, &subsampling, &colors)
    guard unsafe code == 0 || isWarning(decoder) else { throw .damaged }
    try DecodedPicture.check(Int(width), Int(height))
    let metadata = metadata(of: file.span)

    let size = scaled(Int(width), Int(height))
    var raster = Raster(width: size.width, height: size.height)
    let isCMYK = colors == TJCS_CMYK.rawValue || colors == TJCS_YCCK.rawValue
    let format = isCMYK ? TJPF_CMYK : TJPF_RGBA
    // More than 500 scans are refused. Of a file that is cut, the rest is gray, as browsers show it.
    let result = unsafe raster.withMutableBytes { bytes in
      unsafe tjDecompress2(
        decoder, file, UInt(file.count), bytes, Int32(size.width), 0, Int32(size.height),
        format.rawValue, TJFLAG_LIMITSCANS)
    }
    guard unsafe result == 0 || isWarning(decoder) else { throw .damaged }
    var picture = DecodedPicture(
      raster: raster, orientation: metadata.orientation, profile: metadata.profile,
      isLossless: false)
    if isCMYK { ColorProfile.convertCMYK(&picture) }
    return picture
  }

  private static func isWarning(_ handle: tjhandle) -> Bool {
    unsafe tjGetErrorCode(handle) == TJERR_WARNING.rawValue
  }

  /// Returns the smallest size that the library decodes to and that is not below that of the result: a large picture
  /// takes less time and memory.
  private static func scaled(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    let side = max(width, height)
    func scaled(_ length: Int, _ eighths: Int) -> Int { (length * eighths + 7) / 8 }
    let eighths =
      (1...8).first { scaled(side, $0) >= min(side, ProcessedPicture.sideLimit) } ?? 8
    return (scaled(width, eighths), scaled(height, eighths))
  }

  /// Reads the segments before the first scan.
  private static func metadata(
    of file: Span<UInt8>
  ) -> (orientation: Orientation, profile: [UInt8]) {
    var orientation = Orientation.upright
    var profile: [UInt8] = []
    var place = 2
    while let marker = file.big16(place), marker >= 0xFF00 {
      // A byte that fills.
      if marker == 0xFFFF {
        place += 1
        continue
      }
      guard marker != 0xFFDA, marker != 0xFFD9, let length = file.big16(place + 2),
        let range = file.range(place + 4, count: Int(length) - 2)
      else { break }
      let segment = file.extracting(range)
      if marker == 0xFFE1, segment.has("Exif\0\0", at: 0), orientation == .upright {
        orientation = Orientation(exif: segment.extracting(6..<segment.count))
      }
      // After the name come the number of the part and the number of parts, which are in order.
      if marker == 0xFFE2, segment.has("ICC_PROFILE\0", at: 0), segment.count > 14 {
        profile += segment.extracting(14..<segment.count).array
      }
      if profile.count > DecodedPicture.profileLimitBytes { profile = [] }
      place += 2 + Int(length)
    }
    return (orientation, profile)
  }

  static func encode(_ raster: Raster) throws(PictureRefusal) -> [UInt8] {
    guard let encoder = unsafe tjInitCompress() else { throw .notEncoded }
    defer { unsafe tjDestroy(encoder) }
    var bytes: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    let code = unsafe raster.withBytes { pixels in
      unsafe tjCompress2(
        encoder, pixels, Int32(raster.width), 0, Int32(raster.height), TJPF_RGBA.rawValue,
        &bytes, &count, Int32(TJSAMP_420.rawValue), quality, 0)
    }
    defer { unsafe tjFree(bytes) }
    guard code == 0 else { throw .notEncoded }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }
}
