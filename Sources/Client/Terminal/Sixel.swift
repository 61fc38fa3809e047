/// Pictures as sixels (DEC, "Level 2 Sixel graphics"): bands of six rows of pixels, each once for every
/// colour that it has.
public enum Sixel {
  /// Levels of red, green and blue: 216 colours, of which a terminal has at least 256.
  private static let levels = 6
  private static let bandRows = 6

  /// Returns a picture that begins at the cursor. Pixels that are transparent keep what is there.
  /// - Parameter pixels: Red, green, blue and alpha, from the top.
  public static func encode(width: Int, height: Int, _ pixels: ArraySlice<UInt8>) -> [UInt8] {
    precondition(pixels.count == 4 * width * height, "four bytes for each pixel")
    let colors: [UInt8?] = (0..<width * height).map { index in
      let place = pixels.startIndex + 4 * index
      guard pixels[place + 3] >= 128 else { return nil }
      return pixels[place..<place + 3].reduce(0) {
        $0 * UInt8(levels) + UInt8((Int($1) * (levels - 1) + 127) / 255)
      }
    }
    // 1: unset pixels are transparent; then the ratio of a pixel's sides, and the size.
    var bytes = Array("\u{1B}P0;1q\"1;1;\(width);\(height)".utf8)
    for color in Set(colors.compactMap(\.self)).sorted() {
      let parts = [
        Int(color) / (levels * levels), Int(color) / levels % levels, Int(color) % levels,
      ]
      .map { "\($0 * 100 / (levels - 1))" }
      bytes += Array("#\(color);2;\(parts.joined(separator: ";"))".utf8)
    }
    for top in stride(from: 0, to: height, by: bandRows) {
      let rows = min(bandRows, height - top)
      let band = colors[top * width..<(top + rows) * width]
      for color in Set(band.compactMap(\.self)).sorted() {
        bytes += Array("#\(color)".utf8)
        appendLine(
          (0..<width).map { column in
            (0..<rows).reduce(0) { bits, row in
              band[(top + row) * width + column] == color ? bits | 1 << UInt8(row) : bits
            }
          }, to: &bytes)
        // Back to the start of the band.
        bytes.append(UInt8(ascii: "$"))
      }
      bytes.append(UInt8(ascii: "-"))
    }
    bytes.append(ascii: "\u{1B}\\")
    return bytes
  }

  /// Appends the columns of one colour; equal ones are counted.
  private static func appendLine(_ columns: [UInt8], to bytes: inout [UInt8]) {
    var start = 0
    while start < columns.count {
      let end = columns[start...].firstIndex { $0 != columns[start] } ?? columns.count
      let sixel = 0x3F + columns[start]
      if end - start > 3 {
        bytes.append(UInt8(ascii: "!"))
        bytes.append(decimal: end - start)
        bytes.append(sixel)
      } else {
        bytes += Array(repeating: sixel, count: end - start)
      }
      start = end
    }
  }
}
