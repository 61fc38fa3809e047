internal import Synchronization

/// Transfers a value from one thread to another, which takes it once.
public final class Handover<Value: ~Copyable>: Sendable {
  private let value: Mutex<Value?>

  /// Wraps a value that this thread no longer uses.
  public init(_ value: consuming sending Value) { self.value = Mutex(value) }

  /// Returns the value on the first call; nil afterwards.
  public func take() -> sending Value? {
    value.withLock { value in
      let taken = value.take()
      return taken
    }
  }
}
