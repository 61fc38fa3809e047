/// A file of this machine that can be sent.
public struct ChosenFile: Equatable, Sendable {
  /// As it was written.
  public var path: String
  /// The name under which it is sent.
  public var name: String
  public var sizeBytes: Int64

  public init(path: String, name: String, sizeBytes: Int64) {
    self.path = path
    self.name = name
    self.sizeBytes = sizeBytes
  }
}

/// Paths that may be those of files, and what is to be done with them.
public struct FileChoice: Equatable, Sendable {
  public enum Purpose: Equatable, Sendable {
    /// `/send`, with this caption.
    case command(caption: String?)
    /// A text that was pasted, which becomes text unless the path is that of a file.
    case paste(String)
  }

  public var purpose: Purpose
  public var paths: [String]
  /// The `seq` of the message that the first file replies to.
  public var replyTo: Int64?
}

/// The file of a message that is sent once the relay has the bytes.
public struct Upload: Equatable, Sendable {
  public enum News: Equatable, Sendable {
    case progressed(bytes: Int64)
    /// The connection was lost, for this reason; it goes on by itself.
    case waiting(String)
    /// The relay has the bytes under this id.
    case uploaded(file: String)
    case failed(String)
    /// It goes on when wschat ends and starts again.
    case kept
  }

  let file: ChosenFile
  /// The relay's id of an upload of an earlier run, which goes on.
  var continued: String?
  var sentBytes: Int64 = 0
  /// Why it does not go on now.
  var problem: String?
  /// Whether the driver was asked for it. The files of a conversation are uploaded one after the other.
  var isBegun = false
  /// Whether it goes on when wschat ends and starts again.
  var isKept = false

  init(_ file: ChosenFile) { self.file = file }

  /// The name, and how far it is.
  var label: String {
    let progress = "\(file.name) \(FileSize.progress(sentBytes, of: file.sizeBytes))"
    return problem.map { "\(progress) · \($0); retrying" } ?? progress
  }
}
