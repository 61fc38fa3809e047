import Wire

/// The cells that the picture of a file takes in a conversation. They follow from the entry alone, so
/// that nothing moves when the picture comes.
public struct PictureBox: Hashable, Sendable {
  public static let columnsLimit = 40
  public static let rowsLimit = 12
  /// A larger side is not that of a thumbnail, whatever the relay says.
  static let sideLimit: Int64 = 1024
  /// The pixels of a cell, of which most terminals have about as many.
  static let (cellWidth, cellHeight) = (10, 20)

  public let columns: Int
  public let rows: Int

  /// `nil` if the file has no thumbnail, or the relay names an impossible size.
  init?(_ file: FileContent, columnsLimit: Int) {
    guard let thumbnail = file.description?.thumbnail,
      1...Self.sideLimit ~= thumbnail.width, 1...Self.sideLimit ~= thumbnail.height
    else { return nil }
    let (width, height) = (Int(thumbnail.width), Int(thumbnail.height))
    func divided(_ number: Int, by divisor: Int) -> Int {
      max(1, (number + divisor / 2) / divisor)
    }
    var columns = min(
      divided(width, by: Self.cellWidth), min(max(1, columnsLimit), Self.columnsLimit))
    var rows = divided(columns * height * Self.cellWidth, by: width * Self.cellHeight)
    if rows > Self.rowsLimit {
      rows = Self.rowsLimit
      columns = min(columns, divided(rows * width * Self.cellHeight, by: height * Self.cellWidth))
    }
    (self.columns, self.rows) = (columns, rows)
  }

  /// The pixels that a terminal is sent.
  public var pixels: (width: Int, height: Int) {
    (columns * Self.cellWidth, rows * Self.cellHeight)
  }
}

/// A picture that is wanted: the thumbnail of a file, in a box.
public struct WantedThumbnail: Hashable, Sendable {
  /// The id of the file.
  public var file: String
  public var box: PictureBox
}
