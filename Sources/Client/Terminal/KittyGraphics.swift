/// Control strings of the kitty graphics protocol (kitty, "Terminal graphics protocol"): pictures are
/// sent once, under a number, and then placed on cells.
///
/// The terminal is asked to answer only the query. Otherwise its answers would be between the keys.
public enum KittyGraphics {
  /// A part of a picture that is sent at once.
  static let chunkBytes = 4096

  /// Asks whether the terminal knows the protocol, by a picture of one pixel that it does not keep.
  public static let question: [UInt8] = Array(
    "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\".utf8)

  /// Sends a picture of red, green, blue and alpha.
  public static func send(_ id: UInt32, width: Int, height: Int, _ pixels: [UInt8]) -> [UInt8] {
    let encoded = ControlString.base64(pixels)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count + encoded.count / chunkBytes * 16 + 64)
    var start = 0
    repeat {
      let end = min(start + chunkBytes, encoded.count)
      let more = end < encoded.count ? 1 : 0
      let keys = start == 0 ? "a=t,q=2,f=32,s=\(width),v=\(height),i=\(id),m=\(more)" : "m=\(more)"
      bytes += Array("\u{1B}_G\(keys);".utf8)
      bytes += encoded[start..<end]
      bytes.append(ascii: "\u{1B}\\")
      start = end
    } while start < encoded.count
    return bytes
  }

  /// Deletes a picture with its places.
  public static func delete(_ id: UInt32) -> [UInt8] { command("a=d,q=2,d=I,i=\(id)") }

  /// Shows a picture at the cursor, which stays.
  static func place(_ picture: Grid.Picture) -> [UInt8] {
    let part = picture.part.map { ",y=\($0.lowerBound),h=\($0.count)" } ?? ""
    return command(
      "a=p,q=2,i=\(picture.id),p=\(picture.place),c=\(picture.rect.columns),"
        + "r=\(picture.rect.rows)\(part),C=1")
  }

  static func remove(_ picture: Grid.Picture) -> [UInt8] {
    command("a=d,q=2,d=i,i=\(picture.id),p=\(picture.place)")
  }

  private static func command(_ keys: String) -> [UInt8] { Array("\u{1B}_G\(keys)\u{1B}\\".utf8) }
}

extension Grid {
  /// A picture over cells that are blank.
  public struct Picture: Hashable, Sendable {
    /// The number under which the terminal knows it.
    public var id: UInt32
    public var rect: Rect
    /// The rows of pixels that are shown; `nil` for all.
    public var part: Range<Int>?
    /// The picture itself, for a terminal that keeps none.
    var sixels: [UInt8]?
    /// What the cells below it have; where that was changed, something else was drawn over it.
    var background: Color

    /// The number of its place, which is another one for every cell.
    var place: Int { rect.row * 10_000 + rect.column + 1 }
  }

  /// Places a picture, or a part of it, on cells, which become blank. A picture that is not within the
  /// grid is left out.
  public mutating func place(
    picture id: UInt32, part: Range<Int>? = nil, in rect: Rect, _ style: Style
  ) {
    guard rect.column >= 0, rect.row >= 0, rect.columns > 0, rect.rows > 0,
      rect.column + rect.columns <= size.columns, rect.row + rect.rows <= size.rows
    else { return }
    fill(rect, with: style)
    pictures.append(Picture(id: id, rect: rect, part: part, background: style.background))
  }

  /// Draws sixels over cells, which become blank. Not on the last row, where they would scroll the screen.
  public mutating func place(sixels: [UInt8], in rect: Rect, _ style: Style) {
    guard rect.row + rect.rows < size.rows else { return }
    let count = pictures.count
    place(picture: 0, in: rect, style)
    if pictures.count > count { pictures[count].sixels = sixels }
  }

  /// Makes cells differ from all others, so that they are written.
  mutating func spoil(_ rect: Rect) {
    restyle(rect) { $0.link = Self.spoiledLink }
  }

  /// Removes the pictures over which something was drawn.
  public mutating func dropCoveredPictures() {
    pictures = pictures.filter { !isCovered($0) }
  }

  private func isCovered(_ picture: Picture) -> Bool {
    let rect = picture.rect
    for row in rect.row..<rect.row + rect.rows {
      for column in rect.column..<rect.column + rect.columns {
        let cell = self[Position(column: column, row: row)]
        if cell.character != " " || cell.style.background != picture.background { return true }
      }
    }
    return false
  }
}
