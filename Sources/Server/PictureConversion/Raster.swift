/// A picture in memory, row by row from the top: red, green, blue and alpha of each pixel, not multiplied with it.
struct Raster: Equatable {
  typealias Pixel = SIMD4<UInt8>

  private(set) var width: Int
  private(set) var height: Int
  private(set) var pixels: [Pixel]

  /// Transparent black.
  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    pixels = Array(repeating: .zero, count: width * height)
  }

  subscript(x: Int, y: Int) -> Pixel {
    get { pixels[y * width + x] }
    set { pixels[y * width + x] = newValue }
  }

  var rowBytes: Int { width * 4 }

  var isOpaque: Bool { pixels.allSatisfy { $0.w == 255 } }

  func withBytes<R>(_ body: (UnsafePointer<UInt8>) -> R) -> R {
    unsafe pixels.withUnsafeBytes {
      guard let start = unsafe $0.assumingMemoryBound(to: UInt8.self).baseAddress else {
        preconditionFailure("a picture has pixels")
      }
      return unsafe body(start)
    }
  }

  mutating func withMutableBytes<R>(_ body: (UnsafeMutablePointer<UInt8>) -> R) -> R {
    unsafe pixels.withUnsafeMutableBytes {
      guard let start = unsafe $0.assumingMemoryBound(to: UInt8.self).baseAddress else {
        preconditionFailure("a picture has pixels")
      }
      return unsafe body(start)
    }
  }

  mutating func replaceEach(_ change: (Pixel) -> Pixel) {
    for index in pixels.indices { pixels[index] = change(pixels[index]) }
  }
}
