/// A place that keeps objects under names, such as a folder or a bucket. Every call blocks.
///
/// Names consist of ASCII letters, digits, `.`, `-` and `_`, and do not begin with `.`.
public protocol ObjectStorage: Sendable {
  /// How errors and messages call it.
  var description: String { get }

  /// Returns a place of its own below this one, whose objects `list` does not return here.
  func folder(_ name: String) -> any ObjectStorage

  /// Keeps other programs from writing there, as long as this one does, if the storage can do that.
  func claim() throws(StorageError)

  /// Stores an object, or replaces it; whole, or not at all, and so that it survives a loss of power.
  func put(_ bytes: [UInt8], as name: String) throws(StorageError)

  /// Returns an object.
  /// - Parameter range: the part that is returned; what is beyond the end is left out.
  func get(_ name: String, _ range: Range<Int>?) throws(StorageError) -> [UInt8]

  /// Returns the names of all objects, in ascending order.
  func list() throws(StorageError) -> [String]

  /// Returns some names in ascending order: those that begin with a text, and come after a name.
  /// - Parameters:
  ///   - name: empty = from the first one on.
  ///   - limit: at most 1,000.
  func names(
    startingWith start: String, after name: String, limit: Int
  ) throws(StorageError) -> [String]

  /// Deletes an object, if it exists.
  func delete(_ name: String) throws(StorageError)
}

/// Why an object could not be stored, read or deleted: a sentence that says what to do.
public struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// There is no such object.
    case missing
    /// The operator has to change something.
    case refused
    /// What may be better at the next attempt: space, the network.
    case unavailable
  }
  public var kind: Kind
  public var description: String

  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
