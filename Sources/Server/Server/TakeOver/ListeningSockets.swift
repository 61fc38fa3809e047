internal import Glibc
import Platform
import Synchronization

/// Descriptors of the sockets that a relay listens on, which are not those of its loops: the sockets stay open,
/// and clients wait in their queues, as long as these are. Thread-safe.
public final class ListeningSockets: Sendable {
  private struct State {
    var clients: [Int32] = []
    var operators: Int32?
    var areHandedOver = false
  }

  /// Whether all loops accept from the queue of one socket.
  let isShared: Bool
  private let state: Mutex<State>

  /// Takes ownership of the descriptors.
  /// - Parameter operators: the operator's socket.
  init(clients: [Int32] = [], operators: Int32? = nil, isShared: Bool) {
    self.isShared = isShared
    state = Mutex(State(clients: clients, operators: operators))
  }

  deinit { close() }

  /// Keeps a copy of a socket for clients.
  func add(_ listener: borrowing Listener) throws(SystemError) {
    let copy = try listener.copy()
    state.withLock { $0.clients.append(copy) }
  }

  /// Keeps a copy of the operator's socket.
  func add(forOperators listener: borrowing Listener) throws(SystemError) {
    let copy = try listener.copy()
    state.withLock { $0.operators = copy }
  }

  /// The descriptors, the operator's last; they stay those of this object.
  var descriptors: (all: [Int32], hasOperators: Bool) {
    state.withLock { ($0.clients + ($0.operators.map { [$0] } ?? []), $0.operators != nil) }
  }

  /// Whether another process uses the sockets, too. Set before the loops close theirs.
  var areHandedOver: Bool {
    get { state.withLock { $0.areHandedOver } }
    set { state.withLock { $0.areHandedOver = newValue } }
  }

  /// Returns the sockets for clients, which are no longer those of this object.
  func takeListener() throws(SystemError) -> Listener {
    let descriptors = state.withLock { state in
      defer { state.clients = [] }
      return state.clients
    }
    return try Listener.takeOver(descriptors, isShared: isShared)
  }

  /// Returns the operator's socket, which is no longer that of this object; `nil` if there is none.
  func takeOperators(folder: String) -> Listener? {
    let descriptor = state.withLock { state in
      defer { state.operators = nil }
      return state.operators
    }
    guard let descriptor else { return nil }
    return Listener.takeOver(descriptor, folder: folder, name: Server.operatorSocket)
  }

  /// Closes all of them.
  func close() {
    let descriptors = state.withLock { state in
      defer { (state.clients, state.operators) = ([], nil) }
      return state.clients + (state.operators.map { [$0] } ?? [])
    }
    for descriptor in descriptors { Glibc.close(descriptor) }
  }
}
