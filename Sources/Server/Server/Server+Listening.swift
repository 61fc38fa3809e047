import Logging
public import Platform
import Relay
import RelayConfiguration

/// The sockets of a server that listen.
extension Server {
  /// Takes over the socket that the service manager has passed; `nil` if it has passed none.
  public static func adopt(
    _ manager: ServiceManager
  ) throws(ServerError) -> (sockets: ListeningSockets, address: Address)? {
    guard let descriptor = manager.sockets.first else { return nil }
    guard manager.sockets.count == 1 else {
      throw ServerError(
        "The service manager has passed \(manager.sockets.count) sockets (LISTEN_FDS), and the relay serves one. Leave one ListenStream in the socket unit."
      )
    }
    do {
      let listener = try Listener.adopt(descriptor)
      let sockets = ListeningSockets(isShared: true)
      try sockets.add(listener)
      return (sockets, listener.address)
    } catch {
      throw ServerError(
        "The socket that the service manager has passed (LISTEN_FDS) cannot be used: \(error). Let ListenStream in the socket unit be a TCP address, such as 127.0.0.1:8080, with Accept=no."
      )
    }
  }

  /// Listens on an address, unless there are sockets already.
  static func claim(
    _ listen: String, unless sockets: ListeningSockets?, loops: Int
  ) throws(ServerError) -> Listener {
    if let sockets { return try claim(sockets, loops: loops) }
    let addresses: [Address]
    do {
      addresses = try Address.resolve(listen)
    } catch {
      throw ServerError("Cannot listen on \(listen): \(error).", .environment)
    }
    guard let address = addresses.first else {
      throw ServerError("Cannot listen on \(listen): the name has no address.", .environment)
    }
    do {
      return try Listener.claim(address)
    } catch {
      throw ServerError(listenFailure: error, listen)
    }
  }

  private static func claim(
    _ sockets: ListeningSockets, loops: Int
  ) throws(ServerError) -> Listener {
    let listener: Listener
    do {
      listener = try sockets.takeListener()
    } catch {
      throw ServerError("The sockets cannot be taken over: \(error).", .environment)
    }
    guard listener.spareCount < loops else {
      throw ServerError(
        "The running relay has \((listener.spareCount + 1).counted("socket")), one for each loop, and this one would have \(loops.counted("loop")). A relay that takes over has at least as many: raise loops, or restart the relay."
      )
    }
    return listener
  }

  /// The name of the operator's socket in the data folder.
  public static let operatorSocket = "operator.sock"

  /// Listens for programs of operators. A relay without its own folder, or without space in it, goes on
  /// without that socket.
  /// - Parameters:
  ///   - passed: has that socket, if another process listened before.
  ///   - copies: gets a copy of it.
  static func claimOperatorSocket(
    _ configuration: Configuration, _ logger: Logger, unless passed: ListeningSockets?,
    copyTo copies: ListeningSockets
  ) -> sending Listener? {
    do {
      if let listener = passed?.takeOperators(folder: configuration.dataFolder) {
        try copies.add(forOperators: listener)
        return listener
      }
      // Not every engine has created the folder.
      try PrivateFiles.createFolder(configuration.dataFolder)
      let listener = try Listener.claim(folder: configuration.dataFolder, name: operatorSocket)
      try copies.add(forOperators: listener)
      return listener
    } catch {
      logger.warning(
        "There is no socket for relay trace and other programs of the operator. Check the data folder, and restart the relay.",
        metadata: ["error": "\(error)"])
      return nil
    }
  }
}
