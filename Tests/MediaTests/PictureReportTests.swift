import Media
import Testing

@Suite struct `Reports of pictures` {
  private static let picture = ProcessedPicture(
    mediaType: .webp, width: 4096, height: 300,
    thumbnail: ProcessedPicture.Thumbnail(
      width: 640, height: 47, placeholder: Array(repeating: 9, count: 25)))

  @Test func `a report is read as it was written`() {
    var picture = Self.picture
    for type in [MediaType.webp, .jpeg] {
      picture.mediaType = type
      #expect(PictureReport(PictureReport.processed(picture).bytes) == .processed(picture))
    }
    for refusal in PictureRefusal.allCases {
      #expect(PictureReport(PictureReport.refused(refusal).bytes) == .refused(refusal))
    }
  }

  @Test func `a report that cannot be is none`() {
    let bytes = PictureReport.processed(Self.picture).bytes
    // The type, and the high byte of each size: 4096, 300, 640 and 47.
    for (place, byte) in [(0, 1), (1, 0x50), (2, 17), (4, 255), (6, 3), (8, 3)] {
      var bytes = bytes
      bytes[place] = UInt8(byte)
      #expect(PictureReport(bytes) == nil, "byte \(place)")
    }
    var flat = bytes
    (flat[4], flat[5]) = (0, 0)
    #expect(PictureReport(flat) == nil)
    #expect(PictureReport(bytes + Array(repeating: 0, count: 8)) == nil)
    for count in 0..<15 { #expect(PictureReport(Array(bytes.prefix(count))) == nil) }
    #expect(PictureReport([0]) == nil)
    #expect(PictureReport([99]) == nil)
  }
}
