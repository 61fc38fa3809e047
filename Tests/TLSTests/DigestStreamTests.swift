import TLS
import Testing

@Suite struct `A digest of pieces` {
  /// FIPS 180-4, the example of 896 bits.
  private static let message = Array(
    """
    abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs\
    mnopqrstnopqrstu
    """.utf8)

  @Test(arguments: [1, 3, 64, 1000])
  func `is that of the whole`(pieceBytes: Int) {
    var stream = DigestStream()
    for start in stride(from: 0, to: Self.message.count, by: pieceBytes) {
      let piece = Array(Self.message[start...].prefix(pieceBytes))
      // What follows in the buffer does not count.
      stream.add(piece + [0, 0], count: piece.count)
    }
    let digest = stream.finish()
    #expect(
      SHA256Digest.hex(digest) == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    )
    #expect(digest == SHA256Digest.of(Self.message))
  }

  @Test func `of nothing, and by the other algorithm`() {
    #expect(
      SHA256Digest.hex(DigestStream(.sha1).finish()) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
  }
}
