import Glibc
internal import Logging
import Platform
public import RelayConfiguration
import SQLiteLog
import Synchronization

/// The relay that runs on a data folder, from which this process takes over: it gets the sockets first, and the
/// store once it has prepared everything else. Until then the other relay serves, and it goes on if this process
/// ends before it serves.
public final class Predecessor: Sendable {
  /// How long the running relay may take to give its sockets.
  private static let answerMilliseconds: Int32 = 10_000

  /// The running relay's sockets.
  public let sockets: ListeningSockets
  private let channel: ProcessChannel

  /// Asks the relay that uses the data folder for its sockets; `nil` if none runs.
  /// - Throws: if this process could not serve instead, before the running relay is disturbed.
  public static func find(_ configuration: Configuration) throws(ServerError) -> Predecessor? {
    // One that ends before it has answered does not run any more: the second attempt finds none.
    for _ in 0..<2 {
      guard let channel = try connect(configuration.dataFolder) else { return nil }
      if let predecessor = try Predecessor(configuration, channel) { return predecessor }
    }
    throw ServerError(
      "The relay on \(configuration.dataFolder) has not given its sockets, and goes on. Its log may say why; try again, or stop it and start this one.",
      .environment)
  }

  private static func connect(_ folder: String) throws(ServerError) -> ProcessChannel? {
    let channel: ProcessChannel
    do throws(SystemError) {
      channel = try ProcessChannel.connect(forFolder: folder, name: TakeOverSocket.name)
    } catch {
      if [ENOENT, ENOTDIR, ECONNREFUSED].contains(error.code) { return nil }
      throw ServerError(
        "Cannot take over from the relay on \(folder): \(error). Run this command as the user of that relay."
      )
    }
    return channel
  }

  /// - Returns: `nil` if the relay does not answer.
  private init?(
    _ configuration: Configuration, _ channel: consuming ProcessChannel
  ) throws(ServerError) {
    if configuration.log.durability == .memory {
      throw ServerError(
        "A relay with log.durability: memory cannot be taken over: all entries would be lost.")
    }
    if configuration.log.engine == .sqlite {
      do throws(StoreError) { try Store.check(folder: configuration.dataFolder) } catch {
        throw ServerError(error)
      }
    }
    try? channel.send(.hello(process: getpid()))
    let answer = channel.receive(timeoutMilliseconds: Self.answerMilliseconds)
    guard let answer, !answer.descriptors.isEmpty,
      case .sockets(let isShared, let hasOperators)? = TakeOverMessage(answer.text)
    else {
      for descriptor in answer?.descriptors ?? [] { close(descriptor) }
      return nil
    }
    var descriptors = answer.descriptors
    let operators = hasOperators ? descriptors.removeLast() : nil
    sockets = ListeningSockets(clients: descriptors, operators: operators, isShared: isShared)
    self.channel = channel
  }

  /// Lets the running relay disconnect its clients and close the store; returns when that is done, or when the
  /// relay has ended in any other way.
  /// - Parameter isCancelled: asked while it waits.
  /// - Returns: what was read ahead of the store.
  func release(
    _ configuration: Configuration, _ isCancelled: () -> Bool
  ) throws(ServerError) -> IndexFilters? {
    let filters =
      configuration.log.engine == .sqlite
      ? IndexFilters(readingAhead: configuration.dataFolder) : nil
    try? channel.send(.release)
    var poll = pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe Glibc.poll(&poll, 1, Self.cancellationMilliseconds) <= 0 {
      if isCancelled() {
        throw ServerError(
          "Taking over was cancelled. The running relay goes on.", .environment)
      }
    }
    // The message, or the end of the other process: its store is free in both cases.
    _ = channel.receive(timeoutMilliseconds: 0)
    return filters
  }

  /// How often the wait looks for a signal.
  private static let cancellationMilliseconds: Int32 = 250

  /// Tells the earlier relay that this one serves, so that it ends.
  public func tellServing() { try? channel.send(.serving) }
}
