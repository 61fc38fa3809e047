import Glibc
public import Logging
import Platform
public import RelayConfiguration

/// The socket, known by the data folder, by which another process of this user asks to take over from this relay.
/// It is no file of the folder, which programs copy while the relay runs. Confined to one thread.
public struct TakeOverSocket: ~Copyable {
  static let name = "relay-take-over"
  /// How long a process that has connected may take to say what it wants.
  private static let helloMilliseconds: Int32 = 1000

  private let listener: Listener
  /// The process that has the sockets, and prepares.
  private var successor: Successor?

  /// Starts to listen; `nil` if that is not possible, which is logged.
  public init?(_ configuration: Configuration, _ logger: Logger) {
    do {
      listener = try Listener.claim(forFolder: configuration.dataFolder, name: Self.name)
    } catch {
      logger.warning(
        "No other relay can take over from this one. Check the data folder, and restart the relay.",
        metadata: ["error": "\(error)"])
      return nil
    }
  }

  /// For poll(2): readable when `next` has to be called.
  public var descriptor: Int32 {
    switch successor {
    case .some(let successor): successor.descriptor
    case nil: listener.descriptor
    }
  }

  /// Continues with what a process wants.
  /// - Returns: that process, when it is ready to open the store.
  public mutating func next(_ server: Server) -> Successor? {
    if let prepared = successor.take() {
      switch prepared.receive(timeoutMilliseconds: 0) {
      case .release: return prepared
      default: return nil
      }
    }
    guard case .socket(let socket, _) = listener.accept() else { return nil }
    let channel = ProcessChannel(socket)
    guard channel.isOfThisUser else { return nil }
    successor = Successor(
      channel, sockets: server.sockets, timeoutMilliseconds: Self.helloMilliseconds)
    return nil
  }
}

/// A process that takes over from this one. Confined to one thread.
public struct Successor: ~Copyable {
  /// The number of the process.
  public let process: Int32
  private let channel: ProcessChannel

  /// Gives the sockets to a process that has connected; `nil` if it does not ask for them in time.
  fileprivate init?(
    _ channel: consuming ProcessChannel, sockets: ListeningSockets, timeoutMilliseconds: Int32
  ) {
    let hello = channel.receive(timeoutMilliseconds: timeoutMilliseconds)
    guard let hello, case .hello(let process)? = TakeOverMessage(hello.text) else { return nil }
    let (descriptors, hasOperators) = sockets.descriptors
    let message = TakeOverMessage.sockets(isShared: sockets.isShared, hasOperators: hasOperators)
    guard (try? channel.send(message, descriptors)) != nil else { return nil }
    self.process = process
    self.channel = channel
  }

  /// For poll(2).
  public var descriptor: Int32 { channel.descriptor }

  /// Tells it that it may open the store.
  public func release() { try? channel.send(.released) }

  /// Whether it has told that it serves; `false` if it has ended instead. Called when the descriptor is readable.
  public func hasBegunToServe() -> Bool { receive(timeoutMilliseconds: 0) == .serving }

  fileprivate func receive(timeoutMilliseconds: Int32) -> TakeOverMessage? {
    channel.receive(timeoutMilliseconds: timeoutMilliseconds).flatMap { TakeOverMessage($0.text) }
  }
}
