import Testing

@testable import PictureConversion

@Suite struct `Scaling of pictures` {
  private static func picture(
    _ width: Int, _ height: Int, _ pixel: (Int, Int) -> Raster.Pixel
  ) -> Raster {
    var picture = Raster(width: width, height: height)
    for y in 0..<height { for x in 0..<width { picture[x, y] = pixel(x, y) } }
    return picture
  }

  @Test(arguments: [
    (8000, 6000, 4096, 3072), (6000, 8000, 3072, 4096), (4096, 4096, 4096, 4096), (1, 1, 1, 1),
    (65_535, 1, 4096, 1), (4097, 4096, 4096, 4095),
  ])
  func `a picture keeps its shape, and only becomes smaller`(
    width: Int, height: Int, newWidth: Int, newHeight: Int
  ) {
    #expect(Raster.fitted(width, height, to: 4096) == (newWidth, newHeight))
  }

  @Test func `a pixel is the average of what it covers`() {
    let stripes = Self.picture(4, 2) { x, _ in Raster.Pixel(UInt8(x * 40), 10, 20, 255) }
    #expect(
      stripes.fitted(to: 2).pixels == [
        Raster.Pixel(20, 10, 20, 255), Raster.Pixel(100, 10, 20, 255),
      ])
    // Each of the two covers one and a half.
    let three = Self.picture(3, 1) { x, _ in Raster.Pixel(UInt8(x * 90), 0, 0, 255) }
    #expect(three.fitted(to: 2).pixels.map(\.x) == [30, 150])
  }

  @Test(arguments: [(7, 5, 3), (100, 33, 99), (640, 1, 7), (1, 641, 640), (13, 13, 12)])
  func `a picture of one colour keeps it`(width: Int, height: Int, side: Int) {
    let color = Raster.Pixel(3, 141, 254, 77)
    #expect(
      Self.picture(width, height) { _, _ in color }.fitted(to: side).pixels
        .allSatisfy { $0 == color })
  }

  @Test func `a transparent pixel has no colour to mix`() {
    let edge = Self.picture(2, 1) { x, _ in
      x == 0 ? Raster.Pixel(200, 100, 50, 255) : Raster.Pixel(0, 255, 255, 0)
    }
    #expect(edge.fitted(to: 1).pixels == [Raster.Pixel(200, 100, 50, 128)])
  }
}
