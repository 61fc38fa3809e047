internal import Glibc
import Platform

/// How far a client is with its uploads, on disk: after it was killed it goes on from there, and the oracle reads what was
/// acknowledged. A line for each step, written at once.
final class FileJournal {
  enum Step: String {
    /// The relay has given an upload its id.
    case created
    case uploaded
    /// The entry that names it is acknowledged, with this `seq`.
    case acknowledged
    /// It was served with its bytes.
    case served
    /// Its entry was deleted, if that is planned.
    case finished
  }

  /// The steps of one upload.
  struct Progress: Equatable {
    /// How many times it has begun.
    var creations = 0
    var file: String?
    var isUploaded = false
    var seq: Int64?
    var isServed = false
    var isFinished = false
  }

  /// Adds steps, on any thread, as long as the journal exists.
  struct Writer: Sendable {
    fileprivate let path: String
    fileprivate let descriptor: Int32

    func append(_ step: Step, _ upload: Int, _ value: String = "-") throws(SystemError) {
      let line = Array("\(step.rawValue) \(upload) \(value)\n".utf8)
      guard WholeFile.write(line.span, to: descriptor) else { throw .last("write \(path)") }
    }
  }

  let writer: Writer
  /// Up to where it was read.
  private var offset: Int64 = 0
  /// By number of the upload.
  private(set) var uploads: [Int: Progress] = [:]
  private(set) var acknowledged = 0

  /// Opens it, and creates it if it is not there.
  init(_ path: String) throws(SystemError) {
    let descriptor = unsafe open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .last("open \(path)") }
    writer = Writer(path: path, descriptor: descriptor)
    try readNews()
  }

  deinit { close(writer.descriptor) }

  func append(_ step: Step, _ upload: Int, _ value: String = "-") throws(SystemError) {
    try writer.append(step, upload, value)
  }

  /// Reads what was written since the last call.
  func readNews() throws(SystemError) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe pread(writer.descriptor, &bytes, bytes.count, off_t(offset))
      guard count >= 0 else { throw .last("read \(writer.path)") }
      // A line that is being written comes with the next call.
      guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: "\n")) else { return }
      for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n") {
        take(line.split(separator: " "))
      }
      offset += Int64(end + 1)
    }
  }

  private func take(_ words: [Substring]) {
    guard words.count == 3, let step = Step(rawValue: String(words[0])), let number = Int(words[1])
    else { return }
    var upload = uploads[number] ?? Progress()
    switch step {
    case .created:
      upload.creations += 1
      upload.file = String(words[2])
    case .uploaded:
      upload.file = String(words[2])
      upload.isUploaded = true
    case .acknowledged:
      if upload.seq == nil { acknowledged += 1 }
      upload.seq = Int64(words[2])
    case .served: upload.isServed = true
    case .finished: upload.isFinished = true
    }
    uploads[number] = upload
  }
}
