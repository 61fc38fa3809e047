import Glibc
import Platform

/// Why the relay cannot start, and what to do, as a sentence for the operator.
public struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Whether the data is at fault, and not the environment.
  public var isBrokenData: Bool
  public var description: String

  init(_ description: String, isBrokenData: Bool = false) {
    self.description = description
    self.isBrokenData = isBrokenData
  }

  init(listenFailure error: SystemError, _ listen: String) {
    switch error.code {
    case EADDRINUSE:
      self.init(
        "Cannot listen on \(listen): the port is in use, perhaps by another relay. Stop that relay, or choose another port with --listen HOST:PORT."
      )
    case EACCES:
      self.init(
        "Cannot listen on \(listen): permission denied for this port. Choose a port from 1024 with --listen HOST:PORT."
      )
    case EADDRNOTAVAIL:
      self.init(
        "Cannot listen on \(listen): this machine does not have the address. Choose one of its addresses with --listen HOST:PORT."
      )
    default: self.init("Cannot listen on \(listen): \(error).")
    }
  }
}
