import ObjectStorage
package import Platform

/// Where the bytes of files are. Every call blocks.
package protocol FileBytes: Sendable {
  /// What the operator checks if it fails.
  var check: String { get }

  /// How messages call it.
  var description: String { get }

  /// How messages call the bytes with a name.
  func place(of name: String) -> String

  /// The size of all bytes, where this relay alone stores any; otherwise 0.
  var countedBytes: Int64 { get }

  /// Whether other relays store and remove them, too.
  var isShared: Bool { get }

  /// Returns the name under which bytes with a SHA-256 are stored; it begins with that.
  func name(ofHash hash: String) -> String

  /// Stores the bytes of a file of the disk, so that they survive a loss of power.
  /// - Returns: by how much `countedBytes` grows.
  func store(_ path: String, as name: String) throws(FileBytesError) -> Int64

  /// Reads at most that many bytes; fewer at the end. `nil` if there are none with that name.
  func read(
    _ name: String, at offset: Int64, bytes limit: Int
  ) throws(FileBytesError) -> (bytes: [UInt8], size: Int64)?

  /// Removes bytes, if they are there.
  /// - Returns: by how much `countedBytes` shrinks.
  func remove(_ name: String) throws(FileBytesError) -> Int64

  /// Returns the names of some bytes that were stored before a time, in milliseconds since 1970.
  /// - Parameter place: `next` of the call before; empty = the beginning.
  func names(
    storedBefore time: Int64, from place: String
  ) throws(FileBytesError) -> (names: [String], next: String?)
}

extension FileBytes {
  /// Calls `body` with all bytes that have a name, some at a time.
  /// - Returns: whether there are any.
  func forEachBlock(of name: String, _ body: ([UInt8]) throws -> Void) throws -> Bool {
    var offset: Int64 = 0
    while true {
      guard let (block, size) = try read(name, at: offset, bytes: 4 << 20) else { return false }
      try body(block)
      offset += Int64(block.count)
      if block.isEmpty || offset >= size { return true }
    }
  }
}

/// Why bytes cannot be stored, read or removed.
package struct FileBytesError: Error, CustomStringConvertible {
  package var description: String
  /// Whether there is no room for them.
  package var isFull = false

  package init(_ error: SystemError) {
    description = "\(error)"
    isFull = error.isFullDisk
  }

  init(_ error: StorageError) { description = "\(error)" }
}
