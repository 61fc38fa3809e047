extension Raster {
  /// Returns the size of a picture that is scaled down, never up, to at most `sideLimit` pixels on its longer side.
  static func fitted(_ width: Int, _ height: Int, to sideLimit: Int) -> (width: Int, height: Int) {
    let side = max(width, height)
    guard side > sideLimit else { return (width, height) }
    func scaled(_ length: Int) -> Int { max(1, (length * sideLimit + side / 2) / side) }
    return (scaled(width), scaled(height))
  }

  /// Scales it down to at most this many pixels on its longer side: each pixel becomes the average of the area that it
  /// covers, in which a transparent pixel has no colour.
  consuming func fitted(to sideLimit: Int) -> Raster {
    let size = Self.fitted(width, height, to: sideLimit)
    return size == (width, height) ? self : averaged(size.width, size.height)
  }

  private func averaged(_ width: Int, _ height: Int) -> Raster {
    let columns = Share.all(from: self.width, to: width)
    let rows = Share.all(from: self.height, to: height)
    let area = Float(self.width) * Float(self.height)
    var result = Raster(width: width, height: height)
    // A row that is scaled horizontally; and the sums of the row of the result, and of the part of the next one.
    var row = [SIMD4<Float>](repeating: .zero, count: width + 1)
    var sums = row
    for y in 0..<self.height {
      for x in row.indices { row[x] = .zero }
      for x in 0..<self.width {
        let pixel = pixels[y * self.width + x]
        let alpha = Float(pixel.w)
        var value = SIMD4(Float(pixel.x), Float(pixel.y), Float(pixel.z), 1)
        value *= alpha
        let share = columns[x]
        row[share.target] += value * share.first
        row[share.target + 1] += value * share.second
      }
      let share = rows[y]
      for x in 0..<width { sums[x] += row[x] * share.first }
      guard share.isLast else { continue }
      for x in 0..<width {
        result[x, share.target] = Self.pixel(sums[x], area: area)
        sums[x] = row[x] * share.second
      }
    }
    return result
  }

  private static func pixel(_ sums: SIMD4<Float>, area: Float) -> Pixel {
    guard sums.w > 0 else { return .zero }
    let color = sums / sums.w
    func byte(_ value: Float) -> UInt8 { UInt8(min(255, max(0, value + 0.5))) }
    return Pixel(byte(color.x), byte(color.y), byte(color.z), byte(sums.w / area))
  }
}

/// How a row or column is shared by the one or two of the result that it covers.
private struct Share {
  var target: Int
  /// The part of `target`, and that of the one after it, in units of which a whole result has `source`.
  var first: Float
  var second: Float
  /// Whether `target` is complete with it.
  var isLast: Bool

  static func all(from source: Int, to target: Int) -> [Share] {
    (0..<source).map { place in
      let start = place * target
      let index = start / source
      let first = min(target, (index + 1) * source - start)
      return Share(
        target: index, first: Float(first), second: Float(target - first),
        isLast: start + target >= (index + 1) * source)
    }
  }
}
