/// A small picture in memory: rows of red, green, blue and alpha, from the top.
public struct Picture: Equatable, Sendable {
  public let width: Int
  public let height: Int
  /// Four for each pixel; alpha is not multiplied into the colours.
  public let bytes: [UInt8]

  /// `nil` if the number of bytes does not fit.
  public init?(width: Int, height: Int, bytes: [UInt8]) {
    guard width > 0, height > 0, bytes.count == 4 * width * height else { return nil }
    self.width = width
    self.height = height
    self.bytes = bytes
  }

  /// Returns the square in its middle, scaled to this many pixels: each is the average of those that
  /// it covers.
  public func square(_ side: Int) -> Picture {
    let length = min(width, height)
    let (left, top) = ((width - length) / 2, (height - length) / 2)
    var scaled: [UInt8] = []
    scaled.reserveCapacity(4 * side * side)
    // The pixels that a position covers, at least one.
    func range(_ position: Int) -> Range<Int> {
      let start = position * length / side
      return start..<max(start + 1, (position + 1) * length / side)
    }
    for row in 0..<side {
      for column in 0..<side {
        var (sums, alpha, count) = ((0, 0, 0), 0, 0)
        for y in range(row) {
          for x in range(column) {
            let place = 4 * ((top + y) * width + left + x)
            let weight = Int(bytes[place + 3])
            sums.0 += weight * Int(bytes[place])
            sums.1 += weight * Int(bytes[place + 1])
            sums.2 += weight * Int(bytes[place + 2])
            alpha += weight
            count += 1
          }
        }
        let half = alpha / 2
        let weight = max(1, alpha)
        scaled.append(UInt8((sums.0 + half) / weight))
        scaled.append(UInt8((sums.1 + half) / weight))
        scaled.append(UInt8((sums.2 + half) / weight))
        scaled.append(UInt8((alpha + count / 2) / count))
      }
    }
    guard let picture = Picture(width: side, height: side, bytes: scaled) else {
      preconditionFailure("a square has no pixels")
    }
    return picture
  }
}
