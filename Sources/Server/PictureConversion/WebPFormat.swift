import CWebP
import Media

/// WebP, by libwebp.
enum WebPFormat: PictureFormat {
  static func decode(_ file: [UInt8]) throws(PictureRefusal) -> DecodedPicture {
    var configuration = unsafe WebPDecoderConfig()
    guard unsafe WebPInitDecoderConfig(&configuration) != 0,
      unsafe WebPGetFeatures(file, file.count, &configuration.input) == VP8_STATUS_OK
    else { throw .damaged }
    guard unsafe configuration.input.has_animation == 0 else { throw .animated }
    let (width, height) = unsafe (Int(configuration.input.width), Int(configuration.input.height))
    try DecodedPicture.check(width, height)

    // The library scales what it decodes, in rows, and so needs less memory.
    let size = Raster.fitted(width, height, to: ProcessedPicture.sideLimit)
    var raster = Raster(width: size.width, height: size.height)
    let rowBytes = raster.rowBytes
    unsafe configuration.options.use_scaling = size == (width, height) ? 0 : 1
    unsafe configuration.options.scaled_width = Int32(size.width)
    unsafe configuration.options.scaled_height = Int32(size.height)
    unsafe configuration.output.colorspace = MODE_RGBA
    unsafe configuration.output.is_external_memory = 1
    let status = unsafe raster.withMutableBytes { bytes in
      unsafe configuration.output.u.RGBA.rgba = bytes
      unsafe configuration.output.u.RGBA.stride = Int32(rowBytes)
      unsafe configuration.output.u.RGBA.size = rowBytes * size.height
      return unsafe WebPDecode(file, file.count, &configuration)
    }
    unsafe WebPFreeDecBuffer(&configuration.output)
    guard status == VP8_STATUS_OK else { throw .damaged }
    let metadata = metadata(of: file.span)
    return unsafe DecodedPicture(
      raster: raster, orientation: metadata.orientation, profile: metadata.profile,
      // 2 of the three values of `format`: a lossless stream.
      isLossless: configuration.input.format == 2)
  }

  /// Reads the chunks of the RIFF file.
  private static func metadata(
    of file: Span<UInt8>
  ) -> (orientation: Orientation, profile: [UInt8]) {
    var orientation = Orientation.upright
    var profile: [UInt8] = []
    var place = 12
    while let length = file.big32(place + 4).map({ Int($0.byteSwapped) }),
      let range = file.range(place + 8, count: length)
    {
      let data = file.extracting(range)
      if file.has("EXIF", at: place) {
        // Some programs begin it as in a JPEG.
        let start = data.has("Exif\0\0", at: 0) ? 6 : 0
        orientation = Orientation(exif: data.extracting(start..<data.count))
      }
      if file.has("ICCP", at: place), length <= DecodedPicture.profileLimitBytes {
        profile = data.array
      }
      place += 8 + length + length % 2
    }
    return (orientation, profile)
  }

  /// How much is compressed, and at which cost.
  enum Effort {
    case lossless
    /// A picture of 16 megapixels takes a second.
    case picture
    case thumbnail
  }

  static func encode(_ raster: Raster, _ effort: Effort) throws(PictureRefusal) -> [UInt8] {
    var configuration = WebPConfig()
    var picture = unsafe WebPPicture()
    guard unsafe WebPConfigInit(&configuration) != 0, unsafe WebPPictureInit(&picture) != 0 else {
      throw .notEncoded
    }
    switch effort {
    case .lossless:
      guard unsafe WebPConfigLosslessPreset(&configuration, 1) != 0 else { throw .notEncoded }
    case .picture: (configuration.quality, configuration.method) = (85, 1)
    case .thumbnail: (configuration.quality, configuration.method) = (75, 4)
    }
    unsafe picture.use_argb = effort == .lossless ? 1 : 0
    unsafe picture.width = Int32(raster.width)
    unsafe picture.height = Int32(raster.height)
    defer { unsafe WebPPictureFree(&picture) }
    let isImported = unsafe raster.withBytes {
      unsafe WebPPictureImportRGBA(&picture, $0, Int32(raster.rowBytes)) != 0
    }
    guard isImported else { throw .notEncoded }
    var writer = unsafe WebPMemoryWriter()
    unsafe WebPMemoryWriterInit(&writer)
    defer { unsafe WebPMemoryWriterClear(&writer) }
    let isEncoded = unsafe withUnsafeMutablePointer(to: &writer) { writer in
      unsafe picture.writer = WebPMemoryWrite
      unsafe picture.custom_ptr = UnsafeMutableRawPointer(writer)
      return unsafe WebPEncode(&configuration, &picture) != 0
    }
    guard isEncoded else { throw .notEncoded }
    return unsafe Array(UnsafeBufferPointer(start: writer.mem, count: writer.size))
  }
}
