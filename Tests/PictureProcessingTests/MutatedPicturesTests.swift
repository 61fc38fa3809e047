import Media
import Mixing
import TestSupport
import Testing

@testable import PictureProcessing

@Suite struct `Mutated pictures` {
  private static func mutated(
    _ file: [UInt8], with other: [UInt8], _ random: inout SplitMix64
  ) -> [UInt8] {
    var file = file
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        file[Int.random(in: 0..<file.count, using: &random)] ^=
          1 << UInt8.random(in: 0..<8, using: &random)
      }
    case 1:
      // Where the sizes are.
      file[Int.random(in: 0..<min(200, file.count), using: &random)] = .random(
        in: 0...255, using: &random)
    case 2: file.removeLast(Int.random(in: 1..<file.count, using: &random))
    case 3:
      let start = Int.random(in: 0..<file.count, using: &random)
      file.removeSubrange(start..<min(file.count, start + .random(in: 1...40, using: &random)))
    default:
      let start = Int.random(in: 0..<other.count, using: &random)
      let part = other[start..<min(other.count, start + .random(in: 1...200, using: &random))]
      file.insert(contentsOf: part, at: Int.random(in: 0...file.count, using: &random))
    }
    return file
  }

  /// A crash of relay-media would be harmless; none is known, and so one is to be looked at.
  @Test func `each is a picture that others can read, or refused, and ends no process`() throws {
    let files = try PictureFiles("seeds")
    let originals = try files.names.map { try readBytes(files.folder[$0]) }
    var random = SplitMix64(seed: 4)
    var made: [String] = []
    for number in 0..<200 {
      let name = "mutated-\(number)"
      let (seed, other) = (
        originals[number % originals.count], originals.randomElement(using: &random)
      )
      try files.folder.write(Self.mutated(seed, with: other ?? seed, &random), to: name)
      switch try files.process(name) {
      case .success: made.append(name)
      case .failure(.refused): break
      case .failure(let failure): Issue.record("\(name): \(failure)")
      }
    }
    #expect(30...170 ~= made.count, "\(made.count) of 200 are pictures")
    for (name, shown) in zip(made, try files.show(made.map { "\($0).picture" })) {
      #expect(shown.metadata == [], "\(name)")
      #expect(max(shown.width, shown.height) <= ProcessedPicture.sideLimit, "\(name)")
    }
  }
}
