import Glibc
import Platform
import SQLiteLog

/// Why the relay cannot start, and what to do, as a sentence for the operator.
public struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Selects the exit code of the command line.
  public enum Kind: Sendable {
    /// The configuration: the operator has to change something.
    case configuration
    /// The environment: another attempt may succeed.
    case environment
    case brokenData
  }
  public var kind: Kind
  public var description: String

  init(_ description: String, _ kind: Kind = .configuration) {
    self.description = description
    self.kind = kind
  }

  init(_ error: StoreError) {
    let kind: Kind =
      switch error.kind {
      case .configuration: .configuration
      case .environment: .environment
      case .broken: .brokenData
      }
    self.init(error.description, kind)
  }

  init(listenFailure error: SystemError, _ listen: String) {
    switch error.code {
    case EADDRINUSE:
      self.init(
        "Cannot listen on \(listen): the port is in use, perhaps by another relay. Stop that relay, or choose another port with --listen HOST:PORT.",
        .environment)
    case EACCES:
      self.init(
        "Cannot listen on \(listen): permission denied for this port. Choose a port from 1024 with --listen HOST:PORT."
      )
    case EADDRNOTAVAIL:
      self.init(
        "Cannot listen on \(listen): this machine does not have the address. Choose one of its addresses with --listen HOST:PORT.",
        .environment)
    default: self.init("Cannot listen on \(listen): \(error).", .environment)
    }
  }
}
