import Terminal

/// Pictures of people in the list, and the initials of those who have none.
extension Chat {
  /// The columns and rows of a picture: a cell is about half as wide as high.
  private static func size(rows: Int) -> (columns: Int, rows: Int) { (2 * rows, rows) }

  /// The column of the list at which the name begins.
  func nameColumn(rows: Int) -> Int { 6 + (showsPictures ? Self.size(rows: rows).columns - 2 : 0) }

  /// Draws a person's picture at the beginning of a row of the list; initials until there is one.
  func draw(
    pictureOf conversation: Conversation, initials: String, in row: Rect, _ person: Style,
    _ drawing: inout Drawing
  ) {
    let size = Self.size(rows: row.rows)
    let place = Rect(
      column: row.column + 3, row: row.row, columns: size.columns, rows: size.rows)
    guard place.column + place.columns < row.column + row.columns else { return }
    if let user = conversation.peer, conversation.hasPicture {
      if let id = pictures[user] {
        drawing.grid.place(picture: id, in: place, Style())
        drawing.pictures.append(user)
        return
      }
      drawing.wantedPictures.append(user)
    }
    var style = person
    style.attributes.insert(.inverse)
    drawing.grid.fill(place, with: Style(style.foreground, on: .standard, [.inverse]))
    let column = (place.columns - TextWidth.columns(of: initials)) / 2
    drawing.grid.write(
      initials, at: Position(column: place.column + max(0, column), row: place.row), style,
      columns: place.columns)
  }
}
