internal import Synchronization

/// Something that one thread made for another one, which takes it, once.
final class Handover<Value: ~Copyable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: consuming sending Value) { self.value = Mutex(value) }

  func take() -> sending Value? {
    value.withLock { value in
      let taken = value.take()
      return taken
    }
  }
}
