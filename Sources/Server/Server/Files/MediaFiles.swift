import Glibc
import Media
import Platform
import PictureProcessing
import WebSocket

/// Finds out what a file is by its first bytes, and has pictures decoded and encoded again: what they were uploaded
/// as is never served. A picture that cannot be decoded is a file to download. Of sound and video it reads how long they
/// last.
struct MediaFiles: FileProcessor {
  /// `nil` = every picture is a file to download.
  let pictures: PictureProcessor?

  func process(_ path: String) -> ProcessedFile {
    var file = ProcessedFile()
    guard let input = try? OpenedFile(path, O_RDONLY) else { return file }
    let type = input.mediaType
    if type.kind != .picture {
      file.mediaType = type.rawValue
      file.durationMilliseconds = type.durationMilliseconds(of: input.source)
      return file
    }
    return pictures.flatMap { process(path, input.descriptor, $0) } ?? file
  }

  func convertToPNG(_ path: String, into output: String) -> Bool {
    guard let pictures, let thumbnail = try? OpenedFile(path, O_RDONLY),
      let png = try? OpenedFile(output, O_RDWR | O_CREAT | O_TRUNC)
    else { return false }
    let result = pictures.convertToPNG(input: thumbnail.descriptor, output: png.descriptor)
    return (try? result.get()) != nil
  }

  /// - Returns: `nil` if it is no picture that can be shown.
  private func process(
    _ path: String, _ input: Int32, _ pictures: PictureProcessor
  ) -> ProcessedFile? {
    let (picturePath, thumbnailPath) = ("\(path).picture", "\(path).thumbnail")
    let flags = O_RDWR | O_CREAT | O_TRUNC
    var processed: ProcessedPicture?
    if let picture = try? OpenedFile(picturePath, flags),
      let thumbnail = try? OpenedFile(thumbnailPath, flags)
    {
      processed = try? pictures.process(
        input: input, pictureOutput: picture.descriptor, thumbnailOutput: thumbnail.descriptor
      ).get()
    }
    guard let processed else {
      for made in [picturePath, thumbnailPath] { _ = unsafe unlink(made) }
      return nil
    }
    var file = ProcessedFile()
    file.path = picturePath
    file.mediaType = processed.mediaType.rawValue
    (file.width, file.height) = (Int64(processed.width), Int64(processed.height))
    file.thumbnail = .init(
      path: thumbnailPath, width: Int64(processed.thumbnail.width),
      height: Int64(processed.thumbnail.height),
      placeholder: Base64.encode(processed.thumbnail.placeholder))
    return file
  }
}

/// A file that is open until this value ends.
private struct OpenedFile: ~Copyable {
  let descriptor: Int32

  init(_ path: String, _ flags: Int32) throws(SystemError) {
    descriptor = unsafe open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .last("open \(path)") }
  }

  deinit { close(descriptor) }

  var mediaType: MediaType {
    MediaType.sniff(Self.read(descriptor, 0, MediaType.headLimitBytes).span)
  }

  var source: MediaSource {
    let size = lseek(descriptor, 0, SEEK_END)
    return MediaSource(size: Int64(max(0, size))) { [descriptor] in Self.read(descriptor, $0, $1) }
  }

  private static func read(_ descriptor: Int32, _ offset: Int64, _ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = unsafe pread(descriptor, &bytes, count, off_t(offset))
    bytes.removeLast(count - max(0, read))
    return bytes
  }
}
