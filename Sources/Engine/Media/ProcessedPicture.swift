/// A picture that was decoded and encoded again: what its entry says of it.
public struct ProcessedPicture: Equatable, Sendable {
  /// The longest side of a picture and of its thumbnail, in pixels.
  public static let sideLimit = 4096
  public static let thumbnailSideLimit = 640
  /// That of a person's picture, which is shown in a few lines of text.
  public static let avatarSideLimit = 128
  /// The type of every thumbnail.
  public static let thumbnailType: MediaType = .webp

  public struct Thumbnail: Equatable, Sendable {
    public var width: Int
    public var height: Int
    /// A ThumbHash of about 25 bytes: the blurred picture, to show until the thumbnail is there.
    public var placeholder: [UInt8]

    public init(width: Int, height: Int, placeholder: [UInt8]) {
      self.width = width
      self.height = height
      self.placeholder = placeholder
    }
  }

  /// JPEG or WebP.
  public var mediaType: MediaType
  public var width: Int
  public var height: Int
  public var thumbnail: Thumbnail

  public init(mediaType: MediaType, width: Int, height: Int, thumbnail: Thumbnail) {
    self.mediaType = mediaType
    self.width = width
    self.height = height
    self.thumbnail = thumbnail
  }
}

/// Why a file is kept as a file to download, and not as a picture.
public enum PictureRefusal: UInt8, CaseIterable, Error, Sendable {
  /// Neither JPEG, PNG nor WebP.
  case unknownFormat = 1
  /// The file is too long to be read as a picture.
  case fileTooLong
  case tooManyPixels
  /// More than one picture.
  case animated
  case damaged
  /// A library has refused to encode it.
  case notEncoded
}
