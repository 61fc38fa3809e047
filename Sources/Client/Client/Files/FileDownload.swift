internal import Glibc
internal import Platform

/// The download of a file into another one, which is written next to its place and moved there when it
/// is whole. What has arrived is not requested again after an interruption.
struct FileDownload: ~Copyable {
  private let path: String
  private let limitBytes: Int64
  private let draft: String
  private let descriptor: Int32
  private(set) var offset: Int64 = 0
  /// The size of the file, once the relay has told.
  private(set) var sizeBytes: Int64?
  /// The version of which the first bytes are.
  private var tag: String?

  /// Creates the file that is written, which only its owner can read.
  init(to path: String, limitBytes: Int64) throws(SystemError) {
    self.path = path
    self.limitBytes = limitBytes
    draft = "\(path).part"
    _ = unsafe unlink(draft)
    descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw SystemError.last("open \(draft)") }
  }

  deinit {
    close(descriptor)
    // It is no longer there if it was moved.
    _ = unsafe unlink(draft)
  }

  /// Requests what is missing, if the file is still the same (RFC 9110 §13.1.5).
  var fields: [(String, String)] {
    guard offset > 0, let tag else { return [] }
    return [("Range", "bytes=\(offset)-"), ("If-Range", tag)]
  }

  var isWhole: Bool { sizeBytes.map { $0 == offset } ?? false }

  /// Takes the head of an answer with a part of the body.
  /// - Parameter isFirst: Whether it is the first part of this answer.
  mutating func take(
    _ head: AnswerHead, _ bytes: ArraySlice<UInt8>, isFirst: Bool
  ) throws(RelayRequest.Failure) {
    do throws(SystemError) {
      if isFirst { try begin(head) }
      if Int64(bytes.count) > limitBytes - offset { throw SystemError("", code: EFBIG) }
      guard WholeFile.write(bytes.span, to: descriptor) else {
        throw SystemError.last("write \(draft)")
      }
      offset += Int64(bytes.count)
    } catch {
      switch error.code {
      case EFBIG: throw .tooLong(limitBytes: Int(limitBytes))
      case EPROTO: throw .notHTTP
      default: throw .file(error)
      }
    }
  }

  private mutating func begin(_ head: AnswerHead) throws(SystemError) {
    guard let length = head.number("content-length") else { throw SystemError("", code: EPROTO) }
    if head.status == 206 {
      // Only what is missing was requested: an answer with nothing would be asked for again at once.
      guard let sizeBytes, head.fields["content-range"]?.hasPrefix("bytes \(offset)-") == true,
        length == sizeBytes - offset
      else { throw SystemError("", code: EPROTO) }
      return
    }
    if length > limitBytes { throw SystemError("", code: EFBIG) }
    // All of it: another version, or a relay that sends no parts.
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw SystemError.last("truncate \(draft)")
    }
    (offset, sizeBytes) = (0, length)
    // A weak one does not say that the bytes are the same.
    tag = head.fields["etag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
  }

  /// Moves the file to its place, which it replaces.
  consuming func finish() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw SystemError.last("fsync \(draft)") }
    guard unsafe rename(draft, path) == 0 else { throw SystemError.last("rename \(draft)") }
  }
}
