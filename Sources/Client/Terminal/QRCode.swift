/// A QR code in half blocks: a cell has two modules, one above the other.
///
/// Dark on light by explicit colours, as ISO/IEC 18004 demands, whatever the colours of the terminal
/// are. Only for a terminal with colours and UTF-8.
public struct QRCode: Equatable, Sendable {
  /// By row; `true` is dark. A square, without a quiet zone.
  public let modules: [[Bool]]

  /// The quiet zone that ISO/IEC 18004 asks for, in modules, and the one with which cameras still
  /// find the code.
  public static let quietZones = [4, 2]

  /// - Parameter rows: "0" for light and "1" for dark; `nil` unless they are a square with one of the
  ///   sides of ISO/IEC 18004: 21 to 177 in steps of four.
  public init?(_ rows: [String]) {
    let side = rows.count
    guard (21...177).contains(side), (side - 21) % 4 == 0,
      rows.allSatisfy({ $0.utf8.count == side && $0.utf8.allSatisfy { 0x30...0x31 ~= $0 } })
    else { return nil }
    modules = rows.map { $0.utf8.map { $0 == 0x31 } }
  }

  /// The cells that the code needs with a quiet zone of this number of modules.
  public func size(quietZone: Int) -> Size {
    let side = modules.count + 2 * quietZone
    return Size(columns: side, rows: (side + 1) / 2)
  }

  /// Returns the widest quiet zone with which the code fits; `nil` if it does not.
  public func quietZone(within size: Size) -> Int? {
    Self.quietZones.first { zone in
      let own = self.size(quietZone: zone)
      return own.columns <= size.columns && own.rows <= size.rows
    }
  }

  /// Draws the code; the position is that of its upper left corner, with the quiet zone.
  public func draw(at position: Position, quietZone: Int, into grid: inout Grid) {
    let size = size(quietZone: quietZone)
    for row in 0..<size.rows {
      for column in 0..<size.columns {
        let (upper, lower) = colors(row: row, column: column, quietZone)
        grid.write(
          upper == lower ? " " : "▀",
          at: Position(column: position.column + column, row: position.row + row),
          Style(upper, on: lower))
      }
    }
  }

  /// Returns the code for a terminal that scrolls: lines that end with the terminal's own colours.
  public func lines(quietZone: Int, depth: ColorDepth) -> [UInt8] {
    let size = size(quietZone: quietZone)
    var bytes: [UInt8] = []
    var pen = Pen()
    for row in 0..<size.rows {
      for column in 0..<size.columns {
        let (upper, lower) = colors(row: row, column: column, quietZone)
        pen.change(
          to: Style(upper.lowered(to: depth), on: lower.lowered(to: depth)), into: &bytes)
        bytes += Array((upper == lower ? " " : "▀").utf8)
      }
      pen.change(to: Style(), into: &bytes)
      bytes.append(0x0A)
    }
    return bytes
  }

  /// The colours of the two halves of a cell.
  private func colors(row: Int, column: Int, _ zone: Int) -> (Color, Color) {
    func color(_ row: Int) -> Color {
      let (row, column) = (row - zone, column - zone)
      let isDark =
        modules.indices.contains(row) && modules.indices.contains(column) && modules[row][column]
      return isDark ? .rgb(0, 0, 0) : .rgb(255, 255, 255)
    }
    return (color(2 * row), color(2 * row + 1))
  }
}
