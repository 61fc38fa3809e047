import CPNG
import CZlib
import Media

/// PNG, by libpng's simplified interface, whose errors are results and no jumps.
enum PNGFormat: PictureFormat {
  private static let signatureBytes = 8

  static func decode(_ file: [UInt8]) throws(PictureRefusal) -> DecodedPicture {
    let chunks = try Chunks(file.span)
    try DecodedPicture.check(chunks.width, chunks.height)
    var image = unsafe png_image()
    unsafe image.version = png_uint_32(PNG_IMAGE_VERSION)
    defer { unsafe png_image_free(&image) }
    guard
      unsafe png_image_begin_read_from_memory(&image, chunks.essential, chunks.essential.count)
        != 0,
      unsafe Int(image.width) == chunks.width, unsafe Int(image.height) == chunks.height
    else { throw .damaged }
    unsafe image.format = cpng_rgba
    // Not linear light, as libpng would take 16 bits.
    unsafe image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
    var raster = Raster(width: chunks.width, height: chunks.height)
    let rowBytes = raster.rowBytes
    let code = unsafe raster.withMutableBytes { bytes in
      unsafe png_image_finish_read(&image, nil, bytes, png_int_32(rowBytes), nil)
    }
    guard code != 0 else { throw .damaged }
    return DecodedPicture(
      raster: raster, orientation: chunks.orientation, profile: chunks.profile, isLossless: true)
  }

  static func encode(_ raster: Raster) throws(PictureRefusal) -> [UInt8] {
    var image = unsafe png_image()
    unsafe image.version = png_uint_32(PNG_IMAGE_VERSION)
    unsafe image.width = png_uint_32(raster.width)
    unsafe image.height = png_uint_32(raster.height)
    unsafe image.format = cpng_rgba
    defer { unsafe png_image_free(&image) }
    // What deflate makes of pixels that it cannot compress, and the chunks.
    var bytes = [UInt8](
      repeating: 0, count: raster.height * (raster.rowBytes + 16) * 11 / 10 + 4096)
    var count = png_alloc_size_t(bytes.count)
    let code = unsafe raster.withBytes { pixels in
      unsafe png_image_write_to_memory(
        &image, &bytes, &count, 0, pixels, png_int_32(raster.rowBytes), nil)
    }
    guard code != 0 else { throw .notEncoded }
    return Array(bytes.prefix(Int(count)))
  }

  /// The file without what libpng need not see: texts, profiles, private chunks, and what follows the end.
  private struct Chunks {
    var essential: [UInt8] = []
    var width = 0
    var height = 0
    var orientation = Orientation.upright
    var profile: [UInt8] = []

    init(_ file: Span<UInt8>) throws(PictureRefusal) {
      essential.reserveCapacity(file.count)
      essential += file.extracting(first: signatureBytes).array
      var place = signatureBytes
      var isOver = false
      // Length, type, data and checksum.
      while !isOver {
        guard let length = file.big32(place), let range = file.range(place, count: Int(length) + 12)
        else { throw .damaged }
        let chunk = file.extracting(range)
        let data = chunk.extracting(8..<chunk.count - 4)
        switch String(decoding: chunk.extracting(4..<8).array, as: UTF8.self) {
        case "IHDR":
          width = Int(data.big32(0) ?? 0)
          height = Int(data.big32(4) ?? 0)
          essential += chunk.array
        case "PLTE", "tRNS", "IDAT", "gAMA", "sRGB": essential += chunk.array
        case "IEND":
          essential += chunk.array
          isOver = true
        // The frames of an animation are counted before the first.
        case "acTL": throw .animated
        case "eXIf": orientation = Orientation(exif: data)
        case "iCCP": profile = Self.inflate(data)
        default: break
        }
        place += chunk.count
      }
    }

    /// Inflates a profile, after its name and the method; none, if it is damaged or too long.
    private static func inflate(_ data: Span<UInt8>) -> [UInt8] {
      guard let end = data.indices.first(where: { data[$0] == 0 }), end + 2 < data.count else {
        return []
      }
      let deflated = data.extracting(end + 2..<data.count).array
      var profile = [UInt8](repeating: 0, count: DecodedPicture.profileLimitBytes)
      var count = UInt(profile.count)
      let code = unsafe uncompress(&profile, &count, deflated, UInt(deflated.count))
      return code == Z_OK ? Array(profile.prefix(Int(count))) : []
    }
  }
}
