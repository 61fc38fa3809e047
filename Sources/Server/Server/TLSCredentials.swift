internal import RelayConfiguration
import Synchronization
import TLS

/// The certificate for new connections, shared by the loops; can be replaced at runtime. Session
/// tickets are bound to a certificate, so that after a replacement the first handshakes are full
/// ones.
final class TLSCredentials: Sendable {
  private let context: Mutex<TLSContext>

  /// Returns `nil` if TLS is off.
  init?(_ configuration: Configuration.TLS) throws(ServerError) {
    if configuration.isOff { return nil }
    context = Mutex(try Self.read(configuration))
  }

  var current: TLSContext { context.withLock { $0 } }

  /// Replaces the certificate; changes nothing if the new pair cannot be used.
  func replace(by configuration: Configuration.TLS) throws(ServerError) {
    let new = try Self.read(configuration)
    context.withLock { $0 = new }
  }

  private static func read(_ configuration: Configuration.TLS) throws(ServerError) -> TLSContext {
    do throws(TLSFileError) {
      return try TLSContext(certificate: configuration.certificate, key: configuration.key)
    } catch {
      throw ServerError("\(error) The files are set with tls.certificate and tls.key.")
    }
  }
}
