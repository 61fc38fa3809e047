public import Terminal
import Wire

/// How pictures in conversations are drawn.
public enum PictureForm: Equatable, Sendable {
  /// By the terminal (kitty's graphics protocol).
  case graphics
  /// As sixels, in which the terminal's cells have this many pixels.
  case sixels(width: Int, height: Int)
  /// As half blocks, whose two colours are two pixels.
  case blocks
}

/// A picture that can be drawn.
public enum Thumbnail: Equatable, Sendable {
  /// The terminal has it under this number.
  case sent(UInt32)
  /// Sixels for each row of cells.
  case sixels([[UInt8]])
  /// Rows of colours, two for each row of cells.
  case colors([[Color]])
}

/// A row of cells of a picture in a conversation.
struct PictureStrip {
  var wanted: WantedThumbnail
  var row: Int
  /// The style of the cells below it.
  var style: Style
}

extension MessageLayout {
  /// Returns the rows of a message's picture; none if it has none, or none are shown.
  func picture(of message: Message, _ look: Theme.Bubble) -> [Row] {
    guard chat.pictureForm != nil, !message.isDeleted, let file = message.file,
      let box = PictureBox(file, columnsLimit: textColumns)
    else { return [] }
    return (0..<box.rows).map { number in
      var row = Row()
      row.columns = box.columns
      row.strip = PictureStrip(
        wanted: WantedThumbnail(file: file.id, box: box), row: number, style: look.fill)
      return row
    }
  }
}

extension Chat {
  /// Draws a row of a picture from a cell on; blanks until it is there.
  func draw(_ strip: PictureStrip, at place: Position, _ drawing: inout Drawing) {
    guard let thumbnail = thumbnails[strip.wanted] else {
      if strip.row == 0 || !drawing.wantedThumbnails.contains(strip.wanted) {
        drawing.wantedThumbnails.append(strip.wanted)
      }
      return
    }
    if drawing.thumbnails.last != strip.wanted { drawing.thumbnails.append(strip.wanted) }
    let rect = Rect(
      column: place.column, row: place.row, columns: strip.wanted.box.columns, rows: 1)
    switch thumbnail {
    case .sent(let id):
      let top = strip.row * PictureBox.cellHeight
      drawing.grid.place(
        picture: id, part: top..<top + PictureBox.cellHeight, in: rect, strip.style)
    case .sixels(let strips):
      guard strip.row < strips.count else { return }
      drawing.grid.place(sixels: strips[strip.row], in: rect, strip.style)
    case .colors(let rows):
      guard 2 * strip.row + 1 < rows.count else { return }
      for (column, colors) in zip(rows[2 * strip.row], rows[2 * strip.row + 1]).enumerated() {
        drawing.grid.write(
          "▀", at: Position(column: place.column + column, row: place.row),
          Style(colors.0, on: colors.1))
      }
    }
  }
}
