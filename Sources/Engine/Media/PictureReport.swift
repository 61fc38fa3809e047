/// What relay-media prints, in bytes: a refusal, or the picture that it has written.
///
/// One byte of a refusal. Or 0; J or W for the type; width and height of picture and thumbnail, two bytes each, the
/// high one first; and the placeholder. Whoever reads it does not trust who wrote it.
public enum PictureReport: Equatable, Sendable {
  case processed(ProcessedPicture)
  case refused(PictureRefusal)

  /// The longest report.
  public static let limitBytes = headBytes + placeholderBytes.upperBound
  private static let headBytes = 10
  private static let placeholderBytes = 5...32

  public var bytes: [UInt8] {
    switch self {
    case .refused(let refusal): return [refusal.rawValue]
    case .processed(let picture):
      let thumbnail = picture.thumbnail
      let type = UInt8(ascii: picture.mediaType == .jpeg ? "J" : "W")
      let sizes = [picture.width, picture.height, thumbnail.width, thumbnail.height]
      return [0, type] + sizes.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        + thumbnail.placeholder
    }
  }

  /// `nil`: it is none, or says what cannot be.
  public init?(_ bytes: [UInt8]) {
    if bytes.count == 1, let refusal = PictureRefusal(rawValue: bytes[0]) {
      self = .refused(refusal)
      return
    }
    let placeholder = Array(bytes.dropFirst(Self.headBytes))
    guard Self.placeholderBytes ~= placeholder.count, bytes[0] == 0 else { return nil }
    let mediaType: MediaType
    switch bytes[1] {
    case UInt8(ascii: "J"): mediaType = .jpeg
    case UInt8(ascii: "W"): mediaType = .webp
    default: return nil
    }
    let sizes = stride(from: 2, to: Self.headBytes, by: 2).map {
      Int(bytes[$0]) << 8 | Int(bytes[$0 + 1])
    }
    guard sizes[..<2].allSatisfy({ 1...ProcessedPicture.sideLimit ~= $0 }),
      sizes[2...].allSatisfy({ 1...ProcessedPicture.thumbnailSideLimit ~= $0 })
    else { return nil }
    self = .processed(
      ProcessedPicture(
        mediaType: mediaType, width: sizes[0], height: sizes[1],
        thumbnail: ProcessedPicture.Thumbnail(
          width: sizes[2], height: sizes[3], placeholder: placeholder)))
  }
}
