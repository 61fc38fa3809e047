import Media
import Mixing
import TestSupport
import Testing

@Suite struct `Durations of sound and video` {
  static let samples: [(name: String, type: MediaType, milliseconds: Int64?)] = [
    ("opus.ogg", .oggAudio, 1500), ("vorbis.ogg", .oggAudio, 1500),
    ("sound.webm", .webmAudio, 1508), ("recorded.webm", .webmAudio, 1501),
    ("recorded-video.webm", .webmVideo, 1250),
    ("counted.mp3", .mp3, 1656), ("uncounted.mp3", .mp3, 1656),
    ("silence.flac", .flac, 1500), ("sound.wav", .wav, 500),
    ("sound.m4a", .mp4Audio, 1500), ("header-first.mov", .quickTime, 1500),
    ("fragmented.mp4", .mp4Audio, 1628), ("recorded-video.mp4", .mp4Video, 2628),
  ]

  private static func read(_ name: String) throws -> [UInt8] {
    try readBytes(Project["Tests/MediaTests/Samples/\(name)"])
  }

  private static func source(
    _ bytes: [UInt8], claiming size: Int? = nil, count: @escaping (Int) -> Void = { _ in }
  ) -> MediaSource {
    MediaSource(size: Int64(size ?? bytes.count)) { offset, wanted in
      count(wanted)
      return Array(bytes.dropFirst(Int(offset)).prefix(wanted))
    }
  }

  @Test(arguments: samples)
  func `a file lasts as long as its headers or its last packet say`(
    name: String, type: MediaType, milliseconds: Int64?
  ) throws {
    let bytes = try Self.read(name)
    #expect(MediaType.sniff(bytes.span) == type)
    #expect(type.durationMilliseconds(of: Self.source(bytes)) == milliseconds)
  }

  @Test(arguments: samples)
  func `a damaged file costs no more than a whole one`(
    name: String, type: MediaType, milliseconds: Int64?
  ) throws {
    let bytes = try Self.read(name)
    var random = SplitMix64(seed: 1)
    for _ in 0..<2000 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        damaged[Int.random(in: 0..<min(400, bytes.count), using: &random)] =
          [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random)!
      }
      damaged.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      let size = Bool.random(using: &random) ? nil : Int.random(in: 0...(.max), using: &random)
      var read = 0
      let found = type.durationMilliseconds(
        of: Self.source(damaged, claiming: size) { read += $0 })
      #expect(found.map { 0...864_000_000 ~= $0 } ?? true)
      #expect(read <= MediaType.durationReadLimitBytes)
    }
  }

  @Test func `what is neither sound nor video has no duration`() {
    #expect(MediaType.text.durationMilliseconds(of: Self.source(Array("text".utf8))) == nil)
    #expect(MediaType.jpeg.durationMilliseconds(of: Self.source([])) == nil)
  }
}
