/// How a camera was held (Exif 2.3, tag 0x0112): what turns and mirrors its picture upright.
enum Orientation: UInt16 {
  case upright = 1
  case mirrored, upsideDown, flipped, transposed, turnRight, transversed, turnLeft

  private var swapsSides: Bool { rawValue >= 5 }
  private var mirrorsColumns: Bool {
    [.mirrored, .upsideDown, .transversed, .turnLeft].contains(self)
  }
  private var mirrorsRows: Bool {
    [.upsideDown, .flipped, .turnRight, .transversed].contains(self)
  }

  func upright(_ raster: consuming Raster) -> Raster {
    if self == .upright { return raster }
    let (width, height) = (raster.width, raster.height)
    var result = swapsSides ? Raster(width: height, height: width) : raster
    for y in 0..<result.height {
      for x in 0..<result.width {
        let (column, row) = swapsSides ? (y, x) : (x, y)
        result[x, y] =
          raster[
            mirrorsColumns ? width - 1 - column : column, mirrorsRows ? height - 1 - row : row]
      }
    }
    return result
  }

  /// Reads it from the TIFF structure of Exif metadata; upright, if it is damaged or does not say.
  init(exif: Span<UInt8>) {
    self = Self.value(in: exif).flatMap(Orientation.init) ?? .upright
  }

  private static func value(in exif: Span<UInt8>) -> UInt16? {
    guard let mark = exif.big16(0), mark == 0x4949 || mark == 0x4D4D else { return nil }
    let isLittle = mark == 0x4949
    func number16(_ place: Int) -> UInt16? {
      exif.big16(place).map { isLittle ? $0.byteSwapped : $0 }
    }
    func number32(_ place: Int) -> UInt32? {
      exif.big32(place).map { isLittle ? $0.byteSwapped : $0 }
    }
    guard number16(2) == 42, let directory = number32(4), let count = number16(Int(directory))
    else { return nil }
    for entry in 0..<Int(count) {
      let place = Int(directory) + 2 + 12 * entry
      guard let tag = number16(place) else { return nil }
      // Its type is SHORT.
      if tag == 0x0112 { return number16(place + 2) == 3 ? number16(place + 8) : nil }
    }
    return nil
  }
}
