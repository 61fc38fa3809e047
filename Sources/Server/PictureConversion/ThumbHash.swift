import Glibc

/// A blurred picture in about 25 bytes: <https://github.com/evanw/thumbhash>, whose format this is.
enum ThumbHash {
  private static let sideLimit = 100

  static func hash(_ picture: Raster) -> [UInt8] {
    let raster = picture.fitted(to: sideLimit)
    let (width, height) = (raster.width, raster.height)
    let hasAlpha = !raster.isOpaque
    let channels = Channels(raster)
    // Fewer numbers of light where alpha has some.
    let limit = hasAlpha ? 5.0 : 7.0
    let side = Double(max(width, height))
    let across = max(1, Int((limit * Double(width) / side).rounded()))
    let down = max(1, Int((limit * Double(height) / side).rounded()))
    func waves(_ channel: [Double], _ across: Int, _ down: Int) -> Waves {
      Waves(channel, width, height, across: across, down: down)
    }
    let light = waves(channels.light, max(3, across), max(3, down))
    let yellow = waves(channels.yellow, 3, 3)
    let red = waves(channels.red, 3, 3)
    let alpha = hasAlpha ? waves(channels.alpha, 5, 5) : nil

    func level(_ value: Double, _ steps: Double) -> Int { Int((steps * value).rounded()) }
    let isLandscape = width > height
    let first =
      level(light.mean, 63) | level(0.5 + 0.5 * yellow.mean, 63) << 6
      | level(0.5 + 0.5 * red.mean, 63) << 12 | level(light.scale, 31) << 18
      | (hasAlpha ? 1 << 23 : 0)
    let second =
      (isLandscape ? down : across) | level(yellow.scale, 63) << 3 | level(red.scale, 63) << 9
      | (isLandscape ? 1 << 15 : 0)
    var hash = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8($0 & 255) }
    var halves = (light.parts + yellow.parts + red.parts).map { level($0, 15) }
    if let alpha {
      hash.append(UInt8(level(alpha.mean, 15) | level(alpha.scale, 15) << 4))
      halves += alpha.parts.map { level($0, 15) }
    }
    for index in stride(from: 0, to: halves.count, by: 2) {
      let high = index + 1 < halves.count ? halves[index + 1] : 0
      hash.append(UInt8(halves[index] | high << 4))
    }
    return hash
  }

  /// The picture before its average colour, as lightness, yellow against blue, red against green, and alpha.
  private struct Channels {
    var light: [Double] = []
    var yellow: [Double] = []
    var red: [Double] = []
    var alpha: [Double] = []

    init(_ raster: Raster) {
      var sum = SIMD4<Double>.zero
      for pixel in raster.pixels { sum += Self.weighted(pixel) }
      let average = sum.w > 0 ? sum / sum.w : .zero
      for pixel in raster.pixels {
        let weighted = Self.weighted(pixel)
        let color = average * (1 - weighted.w) + weighted
        light.append((color.x + color.y + color.z) / 3)
        yellow.append((color.x + color.y) / 2 - color.z)
        red.append(color.x - color.y)
        alpha.append(weighted.w)
      }
    }

    private static func weighted(_ pixel: Raster.Pixel) -> SIMD4<Double> {
      let alpha = Double(pixel.w) / 255
      return SIMD4(Double(pixel.x), Double(pixel.y), Double(pixel.z), 255) / 255 * alpha
    }
  }

  /// A channel as its mean and cosine waves.
  private struct Waves {
    var mean = 0.0
    /// From 0 to 1; without waves all 0.
    var parts: [Double] = []
    var scale = 0.0

    init(_ channel: [Double], _ width: Int, _ height: Int, across: Int, down: Int) {
      func wave(_ number: Int, _ place: Int, _ length: Int) -> Double {
        cos(.pi / Double(length) * Double(number) * (Double(place) + 0.5))
      }
      for row in 0..<down {
        let vertical = (0..<height).map { wave(row, $0, height) }
        var column = 0
        while column * down < across * (down - row) {
          let horizontal = (0..<width).map { wave(column, $0, width) }
          var sum = 0.0
          for y in 0..<height {
            for x in 0..<width { sum += channel[y * width + x] * horizontal[x] * vertical[y] }
          }
          sum /= Double(width * height)
          if row == 0, column == 0 {
            mean = sum
          } else {
            parts.append(sum)
            scale = max(scale, abs(sum))
          }
          column += 1
        }
      }
      if scale > 0 { parts = parts.map { 0.5 + 0.5 / scale * $0 } }
    }
  }
}
