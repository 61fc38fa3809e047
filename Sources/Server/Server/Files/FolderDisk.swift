package import Platform

/// What a `FileFolder` asks of the system: a real disk, or one that a simulation takes the power from. Every call blocks.
package protocol FolderDisk: Sendable {
  /// Returns the names in a folder; `nil` if it cannot be read.
  func names(in folder: String) -> [String]?

  /// Whether a folder has no names in it, or is not there.
  func isEmpty(_ folder: String) -> Bool

  /// Creates a folder and its missing parents, which only their owner may access.
  func createFolder(_ path: String) throws(SystemError)

  /// Creates a folder as `createFolder`, or takes the permissions of others from an existing one.
  func createSecretFolder(_ path: String) throws(SystemError)

  /// Returns the size of a file and when it was last written, in milliseconds since 1970; `nil` if there is
  /// none.
  func status(of path: String) -> (size: Int64, writtenAt: Int64)?

  /// Creates a file that only its owner may access, or overwrites its content.
  func write(_ bytes: [UInt8], to path: String) throws(SystemError)

  /// Writes into a file, which it does not create.
  func write(_ bytes: [UInt8], to path: String, at offset: Int64) throws(SystemError)

  /// Reads at most that many bytes; fewer at the end of the file.
  func read(
    _ path: String, at offset: Int64, bytes limit: Int
  ) throws(SystemError) -> (bytes: [UInt8], size: Int64)

  func truncate(_ path: String, to size: Int64) throws(SystemError)

  /// Syncs a file or a folder.
  func sync(_ path: String) throws(SystemError)

  /// Gives a file another name as well, which must be free.
  func link(_ path: String, to name: String) throws(SystemError)

  /// Renames a file; one that has the new name is gone.
  func rename(_ path: String, to name: String) throws(SystemError)

  /// Removes a file, if it is there.
  func remove(_ path: String)

  /// Returns how much this user may still use of the disk of a folder; `nil` = unknown.
  func freeBytes(of folder: String) -> Int64?
}
