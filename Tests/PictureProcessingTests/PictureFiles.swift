import Glibc
import Media
import Platform
import TestSupport

@testable import PictureProcessing

/// A folder with a set of pictures, and what relay-media makes of them.
struct PictureFiles {
  let folder: TemporaryFolder
  let names: [String]
  private let processor: PictureProcessor
  private static let program = Project["Tests/PictureProcessingTests/pictures.py"]

  /// Makes a set of `pictures.py`.
  init(_ set: String) throws {
    let made = try TemporaryFolder()
    try run("/usr/bin/python3", "-B", Self.program, "make", set, made.path)
    // The machine may be busy.
    processor = try PictureProcessor(timeoutMilliseconds: 60_000)
    folder = made
    names = made.names
  }

  static func process(
    _ path: String, by processor: PictureProcessor, into output: String
  ) throws -> Result<ProcessedPicture, PictureProcessor.NotAPicture> {
    let input = try OpenFile(path, O_RDONLY)
    let picture = try OpenFile("\(output).picture", O_RDWR | O_CREAT | O_TRUNC)
    let thumbnail = try OpenFile("\(output).thumbnail", O_RDWR | O_CREAT | O_TRUNC)
    return processor.process(
      input: input.descriptor, pictureOutput: picture.descriptor,
      thumbnailOutput: thumbnail.descriptor)
  }

  func process(_ name: String) throws -> Result<ProcessedPicture, PictureProcessor.NotAPicture> {
    try Self.process(folder[name], by: processor, into: folder[name])
  }

  func convertToPNG(_ name: String) throws -> Result<Void, PictureProcessor.NotAPicture> {
    let input = try OpenFile(folder[name], O_RDONLY)
    let output = try OpenFile(folder["\(name).png"], O_RDWR | O_CREAT | O_TRUNC)
    return processor.convertToPNG(input: input.descriptor, output: output.descriptor)
  }

  func avatar(_ name: String) throws -> [UInt8]? { processor.avatar(try readBytes(folder[name])) }

  /// Whether a file has these characters anywhere.
  func contains(_ word: String, in name: String) throws -> Bool {
    let bytes = try readBytes(folder[name])
    return bytes.span.contains(word)
  }

  /// A picture as Pillow reads it.
  struct Shown {
    var format: String
    var width: Int
    var height: Int
    var mode: String
    /// Red, green, blue and alpha of the middle of each quarter.
    var quarters: [SIMD4<Int>]
    var metadata: [String]

    init(_ line: Substring) throws {
      let words = line.split(separator: " ").map(String.init)
      let numbers = words.compactMap(Int.init)
      guard words.count >= 20, numbers.count == 18 else { throw Unexpected(String(line)) }
      (format, width, height, mode) = (words[0], numbers[0], numbers[1], words[3])
      quarters = (0..<4).map { quarter in
        let start = 2 + 4 * quarter
        return SIMD4(
          numbers[start], numbers[start + 1], numbers[start + 2], numbers[start + 3])
      }
      metadata = Array(words[20...])
    }

    /// Whether each quarter has about this colour. That of a transparent pixel does not matter.
    func has(_ colors: [SIMD4<Int>]) -> Bool {
      zip(quarters, colors).allSatisfy { shown, color in
        let difference = shown &- color
        let isNear = (0..<4).map { -16...16 ~= difference[$0] }
        return color.w == 0 ? isNear[3] : isNear.allSatisfy { $0 }
      }
    }
  }

  /// Shows pictures and thumbnails; throws, if one of them cannot be decoded.
  func show(_ names: [String]) throws -> [Shown] {
    let process = try ChildProcess(
      ["/usr/bin/python3", "-B", Self.program, "show"] + names.map { folder[$0] }, input: "")
    guard try process.wait() == .exit(0) else { throw Unexpected(process.errors) }
    return try process.output.split(separator: "\n").map(Shown.init)
  }

  /// The quarters of the pictures: red, green, blue and white.
  static let colors = [
    SIMD4(255, 0, 0, 255), SIMD4(0, 255, 0, 255), SIMD4(0, 0, 255, 255), SIMD4(repeating: 255),
  ]
}

/// A file that is open for as long as the value is.
struct OpenFile: ~Copyable {
  let descriptor: Int32

  init(_ path: String, _ flags: Int32) throws {
    descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
  }

  deinit { close(descriptor) }
}
