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
    return scaled(
      from: ((width - length) / 2, (height - length) / 2, length, length), to: side, side)
  }

  /// Returns all of it, scaled in the same way.
  public func scaled(to columns: Int, _ rows: Int) -> Picture {
    scaled(from: (0, 0, width, height), to: columns, rows)
  }

  private func scaled(
    from part: (left: Int, top: Int, width: Int, height: Int), to columns: Int, _ rows: Int
  ) -> Picture {
    let (left, top) = (part.left, part.top)
    var scaled: [UInt8] = []
    scaled.reserveCapacity(4 * columns * rows)
    // The pixels that a position covers, at least one.
    func range(_ position: Int, of count: Int, in length: Int) -> Range<Int> {
      let start = position * length / count
      return start..<max(start + 1, (position + 1) * length / count)
    }
    for row in 0..<rows {
      let ys = range(row, of: rows, in: part.height)
      for column in 0..<columns {
        let xs = range(column, of: columns, in: part.width)
        var (sums, alpha, count) = ((0, 0, 0), 0, 0)
        for y in ys {
          for x in xs {
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
    guard let picture = Picture(width: columns, height: rows, bytes: scaled) else {
      preconditionFailure("a picture without pixels is wanted")
    }
    return picture
  }
}
