internal import RelayConfiguration
import Synchronization
import TLS

/// The certificate that new connections get, shared by the loops; may be replaced meanwhile. Tickets
/// belong to a certificate, so that after a replacement the first handshakes are full ones.
final class TLSCredentials: Sendable {
  private let context: Mutex<TLSContext>

  /// `nil` where TLS is off.
  init?(_ configuration: Configuration.TLS) throws(ServerError) {
    if configuration.isOff { return nil }
    context = Mutex(try Self.read(configuration))
  }

  var current: TLSContext { context.withLock { $0 } }

  /// Changes nothing where the new pair cannot be used.
  func replace(by configuration: Configuration.TLS) throws(ServerError) {
    let new = try Self.read(configuration)
    context.withLock { $0 = new }
  }

  private static func read(_ configuration: Configuration.TLS) throws(ServerError) -> TLSContext {
    do throws(TLSFileError) {
      return try TLSContext(certificate: configuration.certificate, key: configuration.key)
    } catch {
      throw ServerError("\(error) The keys tls.certificate and tls.key name the two files.")
    }
  }
}
