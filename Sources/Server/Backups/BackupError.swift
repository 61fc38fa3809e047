internal import ObjectStorage
internal import Platform

/// A backup or a restore that cannot go on: a sentence that says what to do.
public struct BackupError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Selects the exit code of the command line.
  public enum Kind: Sendable {
    /// What the operator has to change.
    case refused
    /// What may be better at the next attempt.
    case unavailable
    /// The data, in the folder or in the backup.
    case damaged
  }
  public var kind: Kind
  public var description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// A restore cannot write a file.
  static func unwritable(_ path: String, _ error: SystemError) -> BackupError {
    BackupError(
      .unavailable,
      "\(path) cannot be written: \(error.reason). Free some space, or restore into another folder."
    )
  }

  init(_ error: StorageError) {
    self.init(error.kind == .unavailable ? .unavailable : .refused, error.description)
  }
}
