public import Media

/// What becomes of an uploaded picture: upright, in sRGB, without metadata, and no larger than it is shown.
///
/// Runs in relay-media, which can do nothing else: the file is a stranger's.
public enum PictureConversion {
  /// A longer file is no picture.
  public static let fileLimitBytes = 32 << 20
  /// A lossless picture that is larger, or becomes longer, is encoded with loss. A screen of 3840 by 2160 is not larger;
  /// libwebp takes 35 bytes of memory for each pixel.
  static let losslessLimitPixels = 8 << 20
  static let losslessLimitBytes = 4 << 20

  public struct Result {
    public var picture: ProcessedPicture
    public var pictureFile: [UInt8]
    public var thumbnailFile: [UInt8]
  }

  /// Converts a picture and its thumbnail.
  public static func convert(_ file: consuming [UInt8]) throws(PictureRefusal) -> Result {
    let decoded = try decode(file, sideLimit: ProcessedPicture.sideLimit)
    let (mediaType, pictureFile) = try encode(decoded)
    let thumbnail = decoded.raster.fitted(to: ProcessedPicture.thumbnailSideLimit)
    return Result(
      picture: ProcessedPicture(
        mediaType: mediaType, width: decoded.raster.width, height: decoded.raster.height,
        thumbnail: ProcessedPicture.Thumbnail(
          width: thumbnail.width, height: thumbnail.height, placeholder: ThumbHash.hash(thumbnail))),
      pictureFile: pictureFile,
      thumbnailFile: try WebPFormat.encode(thumbnail, .thumbnail))
  }

  /// Converts a picture to a PNG.
  public static func convertToPNG(
    _ file: consuming [UInt8], sideLimit: Int
  ) throws(PictureRefusal) -> [UInt8] {
    try PNGFormat.encode(decode(file, sideLimit: sideLimit).raster)
  }

  private static func decode(
    _ file: consuming [UInt8], sideLimit: Int
  ) throws(PictureRefusal) -> DecodedPicture {
    var picture = try decode(file)
    picture.raster = picture.raster.fitted(to: sideLimit)
    ColorProfile.convert(&picture.raster, from: picture.profile)
    picture.raster = picture.orientation.upright(picture.raster)
    return picture
  }

  private static func decode(_ file: [UInt8]) throws(PictureRefusal) -> DecodedPicture {
    switch MediaType.sniff(file.span) {
    case .jpeg: try JPEGFormat.decode(file)
    case .png: try PNGFormat.decode(file)
    case .webp: try WebPFormat.decode(file)
    default: throw .unknownFormat
    }
  }

  /// A photo of a camera stays JPEG. What has sharp edges or alpha becomes WebP, lossless if it came so and that
  /// is not too much.
  private static func encode(
    _ picture: DecodedPicture
  ) throws(PictureRefusal) -> (MediaType, [UInt8]) {
    if !picture.isLossless, picture.raster.isOpaque {
      return (.jpeg, try JPEGFormat.encode(picture.raster))
    }
    if picture.isLossless, picture.raster.pixels.count <= losslessLimitPixels {
      let file = try WebPFormat.encode(picture.raster, .lossless)
      if file.count <= losslessLimitBytes { return (.webp, file) }
    }
    return (.webp, try WebPFormat.encode(picture.raster, .picture))
  }
}
