internal import Glibc
internal import Platform

/// The download of a file into another one, which is written next to its place and moved there when it
/// is whole. What has arrived is not requested again after an interruption.
struct FileDownload: ~Copyable {
  private let path: String
  private let limitBytes: Int64
  private let draft: String
  private let descriptor: Int32
  private var isMoved = false
  private(set) var offset: Int64 = 0
  /// The size of the file, once the relay has told.
  private(set) var sizeBytes: Int64?
  /// The version of which the first bytes are.
  private var tag: String?

  /// How many names are tried for the file that is written.
  private static let draftsLimit = 100

  /// Creates the file that is written, which only its owner can read. It never has the name of another file: that
  /// may be one that the user has saved, or the place of another download.
  init(to path: String, limitBytes: Int64) throws(SystemError) {
    var draft = "\(path).part"
    var descriptor: Int32 = -1
    for number in 1...Self.draftsLimit where descriptor < 0 {
      if number > 1 { draft = "\(path)-\(number).part" }
      descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor < 0, errno != EEXIST { break }
    }
    if descriptor < 0 { throw SystemError.last("open \(draft)") }
    (self.path, self.limitBytes) = (path, limitBytes)
    (self.draft, self.descriptor) = (draft, descriptor)
  }

  deinit {
    close(descriptor)
    // Once it is moved, another file may have its name.
    if !isMoved { _ = unsafe unlink(draft) }
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
    isMoved = true
  }
}
