import Media
import Testing

@Suite struct `Media types` {
  private static func sniff(_ bytes: [UInt8]) -> MediaType { MediaType.sniff(bytes.span) }
  private static func sniff(_ text: String) -> MediaType { sniff(Array(text.utf8)) }

  /// An Ogg page with the header of a codec.
  private static func ogg(_ codec: String) -> [UInt8] {
    Array("OggS".utf8) + [UInt8](repeating: 0, count: 24) + Array(codec.utf8)
  }

  private static func webm(_ text: String) -> [UInt8] {
    [0x1A, 0x45, 0xDF, 0xA3, 0x9F] + Array(text.utf8)
  }

  private static func mp4(_ text: String) -> [UInt8] { [0, 0, 0, 24] + Array(text.utf8) }

  @Test(arguments: [
    ([0xFF, 0xD8, 0xFF, 0xE0], MediaType.jpeg),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
    (Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8X".utf8), .webp),
    (Array("RIFF\u{1}\u{2}\u{3}\u{4}WAVEfmt ".utf8), .wav),
    (Array("fLaC".utf8), .flac),
    (Array("ID3\u{4}".utf8), .mp3),
    ([0xFF, 0xFB, 0x90, 0x64], .mp3),
    ([0xFF, 0xF1, 0x50, 0x80], .aac),
    (ogg("OpusHead"), .oggAudio),
    (ogg("\u{1}vorbis"), .oggAudio),
    (ogg("") + [0x80] + Array("theora".utf8), .oggVideo),
    (webm("B\u{2}webm A_OPUS"), .webmAudio),
    (webm("B\u{2}webm V_VP9 A_OPUS"), .webmVideo),
    (mp4("ftypM4A "), .mp4Audio),
    (mp4("ftypiso5 hdlr soun"), .mp4Audio),
    (mp4("ftypisom vide soun"), .mp4Video),
    (mp4("ftypqt  "), .quickTime),
  ])
  func `a file is what its first bytes are`(bytes: [UInt8], type: MediaType) {
    #expect(Self.sniff(bytes) == type)
  }

  @Test(arguments: [
    [], Array("GIF89a\u{1}\0\u{1}\0".utf8), mp4("ftypheic"), mp4("ftypavif"),
    webm("B\u{8}matroska"),
    ogg("Unknown"), [0xFF, 0xFB, 0x00, 0x00], [0xFF, 0xFE, 0x41, 0x00], [0x50, 0x4B, 3, 4],
    [0x25, 0x50, 0x44, 0x46, 0x2D, 0xE2], [0xFF], [0xFF, 0xD8],
  ])
  func `what no browser may show is a file to download`(bytes: [UInt8]) {
    #expect(Self.sniff(bytes) == .other)
  }

  @Test func `no start of a signature is more than text or a file`() {
    for bytes in [Self.mp4("ftypM4A "), Self.ogg("OpusHead"), Self.webm("B\u{2}webm")] {
      for count in 0..<8 {
        #expect([.other, .text].contains(Self.sniff(Array(bytes.prefix(count)))))
      }
    }
  }

  @Test func `text is UTF-8 without control characters`() {
    #expect(Self.sniff("Grüße,\n\twie geht's? 🙂") == .text)
    #expect(Self.sniff("\u{FEFF}Grüße") == .text)
    #expect(Self.sniff("a\0b") == .other)
    #expect(Self.sniff("a\u{1B}[2J") == .other)
    #expect(Self.sniff([0x61, 0xE9, 0x61]) == .other)
    #expect(Self.sniff([0x61, 0xC3]) == .other)
  }

  @Test(arguments: ["<!doctype html>", "  \n<svg>", "\u{FEFF}<?xml version='1.0'?>", "<script>"])
  func `markup is a file to download`(text: String) {
    #expect(Self.sniff(text) == .other)
  }

  @Test(arguments: 0..<4)
  func `a character that the head cuts is text`(cut: Int) {
    let text = Array((String(repeating: "a", count: MediaType.headLimitBytes - cut) + "🙂🙂").utf8)
    #expect(Self.sniff(text) == .text)
    let broken = text.prefix(MediaType.headLimitBytes - 5) + [0xF0] + text.suffix(20)
    #expect(Self.sniff(Array(broken)) == .other)
  }

  @Test func `a type has one kind, which its name says`() {
    for type in MediaType.allCases {
      let kind: MediaType.Kind =
        switch type.rawValue.prefix(while: { $0 != "/" }) {
        case "image": .picture
        case "audio": .audio
        case "video": .video
        case "text": .text
        default: .file
        }
      #expect(type.kind == kind)
    }
  }
}
