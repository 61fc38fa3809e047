import Testing

@testable import PictureConversion

@Suite struct `Placeholders by ThumbHash` {
  private static func picture(_ width: Int, _ height: Int, hasAlpha: Bool) -> Raster {
    var picture = Raster(width: width, height: height)
    for y in 0..<height {
      for x in 0..<width {
        picture[x, y] = Raster.Pixel(
          UInt8((5 * x + 2 * y) & 255), UInt8((x * y) & 255), UInt8((200 - 3 * x - y) & 255),
          hasAlpha ? UInt8(8 * x & 255) : 255)
      }
    }
    return picture
  }

  /// From PyPI's thumbhash 0.1.2; for alpha, after a repair of its parentheses.
  @Test(arguments: [
    (40, 30, false, "9d27066d8e50657662878875885888867075078bb9"),
    (9, 80, false, "5c16065108427059989596886470e60fd9"),
    (32, 32, true, "1f28821d0437a387908892394ad092067fd970777788888887"),
  ])
  func `a hash is what another program makes`(
    width: Int, height: Int, hasAlpha: Bool, hash: String
  ) {
    let bytes = ThumbHash.hash(Self.picture(width, height, hasAlpha: hasAlpha))
    #expect(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == hash)
  }

  @Test func `a picture of one pixel, or without any colour, has one`() {
    #expect(ThumbHash.hash(Raster(width: 1, height: 1)).count == 25)
    var white = Raster(width: 3, height: 3)
    white.replaceEach { _ in Raster.Pixel(repeating: 255) }
    #expect(ThumbHash.hash(white).count >= 5)
  }

  @Test(arguments: [(4096, 1), (1, 4096), (100, 101), (640, 480)])
  func `a hash of any shape fits a report`(width: Int, height: Int) {
    #expect(5...32 ~= ThumbHash.hash(Self.picture(width, height, hasAlpha: true)).count)
    #expect(5...32 ~= ThumbHash.hash(Self.picture(width, height, hasAlpha: false)).count)
  }
}
