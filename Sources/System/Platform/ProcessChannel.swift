internal import CLinux
internal import Glibc

/// A connection between two processes of one user, on a Unix socket: each message is a short text, with copies of
/// descriptors if there are any (unix(7), `SCM_RIGHTS`). The processes take turns, so that messages never join.
public struct ProcessChannel: ~Copyable, Sendable {
  /// A message.
  public struct Message: Sendable {
    public var text: String
    /// Owned by the receiver.
    public var descriptors: [Int32]
  }

  /// The most descriptors of one message.
  public static let descriptorsLimit = CLINUX_DESCRIPTORS_LIMIT
  private static let textLimitBytes = 256

  /// Readable when there is a message, and when the other process is gone.
  public let descriptor: Int32

  /// Connects to the socket of that name that belongs to a folder: see `Listener.claim(forFolder:name:)`.
  /// - Throws: `ECONNREFUSED` if no process listens, `EPERM` if it is of another user.
  public static func connect(
    forFolder folder: String, name: String
  ) throws(SystemError) -> ProcessChannel {
    let descriptor = unsafe clinux_connect_for_folder(folder, name)
    guard descriptor >= 0 else { throw SystemError.last("connect to \(name) of \(folder)") }
    let channel = ProcessChannel(owning: descriptor)
    guard channel.isOfThisUser else {
      throw SystemError("connect to \(name) of \(folder)", code: EPERM)
    }
    return channel
  }

  /// Whether the other process is of this user, or of root.
  public var isOfThisUser: Bool { clinux_is_peer_of_user(descriptor) == 1 }

  /// Takes over a connected socket.
  public init(_ socket: consuming Socket) { self.init(owning: socket.release()) }

  private init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Sends a message.
  public func send(_ text: String, _ descriptors: [Int32] = []) throws(SystemError) {
    precondition(
      1...Self.textLimitBytes ~= text.utf8.count, "a message has a text, and a short one")
    guard
      unsafe clinux_send_descriptors(descriptor, text, descriptors, Int32(descriptors.count)) == 0
    else { throw SystemError.last("sendmsg") }
  }

  /// Waits for a message; `nil` if the other process is gone, or says nothing in time.
  /// - Parameter timeoutMilliseconds: -1 = no limit.
  public func receive(timeoutMilliseconds: Int32) -> Message? {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      switch unsafe Glibc.poll(&poll, 1, timeoutMilliseconds) {
      case 0: return nil
      case ..<0: if errno == EINTR { continue } else { return nil }
      default: break
      }
      break
    }
    var text = [CChar](repeating: 0, count: Self.textLimitBytes)
    var descriptors = [Int32](repeating: -1, count: Self.descriptorsLimit)
    var count: Int32 = 0
    let received = unsafe clinux_receive_descriptors(
      descriptor, &text, text.count, &descriptors, &count)
    guard received > 0 else { return nil }
    return Message(
      text: String(decoding: text[..<received].map(UInt8.init(bitPattern:)), as: UTF8.self),
      descriptors: Array(descriptors[..<Int(count)]))
  }
}
