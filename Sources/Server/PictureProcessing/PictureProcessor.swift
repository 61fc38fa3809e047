internal import Glibc
public import Media
public import Platform

/// Has pictures decoded by relay-media, a process of its own for each, and believes none of what it says unchecked.
///
/// Blocks for as long as that takes, at most `timeoutMilliseconds`; for a thread of its own.
public struct PictureProcessor: Sendable {
  /// The process may use 5 s of a processor; the rest is for a machine that is busy, where it comes last.
  public static let timeoutMilliseconds = 15_000
  static let program = "relay-media"
  /// Beside the running program where both are built, and where it is installed in a `bin`.
  private static let folders = ["", "../libexec/relay/"]

  private let path: String
  private let timeoutMilliseconds: Int

  /// Finds relay-media.
  public init(timeoutMilliseconds: Int = timeoutMilliseconds) throws(SystemError) {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw SystemError.last("readlink /proc/self/exe") }
    let own = String(decoding: buffer.prefix(count).map(UInt8.init), as: UTF8.self)
    let folder = own.lastIndex(of: "/").map { own[...$0] } ?? "./"
    let places = Self.folders.map { "\(folder)\($0)\(Self.program)" }
    guard let path = places.first(where: ChildProgram.exists) else {
      throw SystemError("find \(places[0]), which is installed with relay", code: ENOENT)
    }
    self.init(path: path, timeoutMilliseconds: timeoutMilliseconds)
  }

  init(path: String, timeoutMilliseconds: Int) {
    self.path = path
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  /// Why a file is kept as a file to download.
  public enum NotAPicture: Error, Equatable, Sendable {
    case refused(PictureRefusal)
    /// It was killed, took too long, or could not be started.
    case failed(ChildProgram.Failure)
    /// It has said or written what cannot be.
    case implausible
  }

  /// Decodes a picture, and writes it again, with its thumbnail.
  /// - Parameters:
  ///   - input: A regular file that is open for reading, at its beginning.
  ///   - pictureOutput: An empty file, open for reading and writing.
  ///   - thumbnailOutput: The same.
  public func process(
    input: Int32, pictureOutput: Int32, thumbnailOutput: Int32
  ) -> Result<ProcessedPicture, NotAPicture> {
    run("picture", input, [pictureOutput, thumbnailOutput]).flatMap { bytes in
      switch PictureReport(bytes) {
      case .refused(let refusal): .failure(.refused(refusal))
      case .processed(let picture):
        Self.type(of: pictureOutput) == picture.mediaType
          && Self.type(of: thumbnailOutput) == ProcessedPicture.thumbnailType
          ? .success(picture) : .failure(.implausible)
      case nil: .failure(.implausible)
      }
    }
  }

  /// Decodes a picture, such as a thumbnail, and writes it as a PNG of the size of a thumbnail.
  public func convertToPNG(input: Int32, output: Int32) -> Result<Void, NotAPicture> {
    convertToPNG("png", input, output)
  }

  /// Decodes a person's picture, and returns it as a PNG of at most `ProcessedPicture.avatarSideLimit` pixels a side; `nil` if
  /// it is none.
  public func avatar(_ file: [UInt8]) -> [UInt8]? {
    guard let input = try? MemoryFile(file), let output = try? MemoryFile(),
      case .success = convertToPNG("avatar", input.descriptor, output.descriptor)
    else { return nil }
    return try? output.read(limitBytes: Self.avatarLimitBytes)
  }

  /// None of 128 by 128 pixels is larger.
  private static let avatarLimitBytes = 80 << 10

  private func convertToPNG(
    _ mode: String, _ input: Int32, _ output: Int32
  ) -> Result<Void, NotAPicture> {
    run(mode, input, [output]).flatMap { bytes in
      if case .refused(let refusal) = PictureReport(bytes) { return .failure(.refused(refusal)) }
      return bytes.isEmpty && Self.type(of: output) == .png
        ? .success(()) : .failure(.implausible)
    }
  }

  private func run(
    _ mode: String, _ input: Int32, _ outputs: [Int32]
  ) -> Result<[UInt8], NotAPicture> {
    do throws(ChildProgram.Failure) {
      return .success(
        try ChildProgram.output(
          ofIsolated: [path, mode], input: input, descriptors: outputs,
          limitBytes: PictureReport.limitBytes, timeoutMilliseconds: timeoutMilliseconds))
    } catch {
      return .failure(.failed(error))
    }
  }

  /// The type that the file really begins as.
  private static func type(of file: Int32) -> MediaType {
    var head = [UInt8](repeating: 0, count: MediaType.headLimitBytes)
    let count = unsafe pread(file, &head, head.count, 0)
    return MediaType.sniff(head.span.extracting(first: max(0, count)))
  }
}
