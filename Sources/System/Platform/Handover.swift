internal import Synchronization

/// Something that one thread made for another one, which takes it, once.
public final class Handover<Value: ~Copyable>: Sendable {
  private let value: Mutex<Value?>

  /// Takes the value out of this thread's hands.
  public init(_ value: consuming sending Value) { self.value = Mutex(value) }

  /// The value, for the first who asks.
  public func take() -> sending Value? {
    value.withLock { value in
      let taken = value.take()
      return taken
    }
  }
}
