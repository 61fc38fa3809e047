import Logging
public import Platform
import RelayConfiguration

/// The sockets of a server that listen.
extension Server {
  /// Takes over the socket that the service manager has passed; `nil` if it has passed none.
  public static func adopt(
    _ manager: ServiceManager
  ) throws(ServerError) -> sending Listener? {
    guard let descriptor = manager.sockets.first else { return nil }
    guard manager.sockets.count == 1 else {
      throw ServerError(
        "The service manager has passed \(manager.sockets.count) sockets (LISTEN_FDS), and the relay serves one. Leave one ListenStream in the socket unit."
      )
    }
    do {
      return try Listener.adopt(descriptor)
    } catch {
      throw ServerError(
        "The socket that the service manager has passed (LISTEN_FDS) cannot be used: \(error). Let ListenStream in the socket unit be a TCP address, such as 127.0.0.1:8080, with Accept=no."
      )
    }
  }

  /// Listens on an address, unless there is a socket already.
  static func claim(
    _ listen: String, unless passed: consuming Listener?
  ) throws(ServerError) -> Listener {
    if let listener = consume passed { return listener }
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

  /// The name of the operator's socket in the data folder.
  public static let operatorSocket = "operator.sock"

  /// Listens for programs of operators. A relay without its own folder, or without space in it, goes on
  /// without that socket.
  static func claimOperatorSocket(
    _ configuration: Configuration, _ logger: Logger
  ) -> sending Listener? {
    do {
      // Not every engine has created the folder.
      try PrivateFiles.createFolder(configuration.dataFolder)
      return try Listener.claim(folder: configuration.dataFolder, name: operatorSocket)
    } catch {
      logger.warning(
        "There is no socket for relay trace and other programs of the operator. Check the data folder, and restart the relay.",
        metadata: ["error": "\(error)"])
      return nil
    }
  }
}
