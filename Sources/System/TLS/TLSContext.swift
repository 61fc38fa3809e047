internal import COpenSSL
internal import Glibc

/// Which servers a client trusts.
public enum TLSTrust: Hashable, Sendable {
  /// Servers with a certificate for the host, signed by an authority that the system trusts.
  case system
  /// As `system`, with the authorities in this PEM file instead of the system's.
  case authorities(file: String)
  /// Any server: encrypted, but not authenticated.
  case anyone
}

/// The configuration shared by the sessions of a server, or of a client with one kind of trust: TLS
/// 1.2 and 1.3, no renegotiation, no compression, HTTP/1.1 as the protocol if one is negotiated
/// (ALPN).
///
/// Sessions of several threads may share a context; OpenSSL counts the references.
@safe public final class TLSContext: Sendable {
  // Configured before it is shared; afterwards only read, and reference-counted atomically.
  nonisolated(unsafe) let context: OpaquePointer

  private init(_ method: OpaquePointer?) throws(TLSFileError) {
    ERR_clear_error()
    guard TLSExchange.prepare(), let context = unsafe SSL_CTX_new(method) else {
      throw TLSFileError("OpenSSL cannot start (\(TLSFiles.reason())).")
    }
    unsafe self.context = unsafe context
    _ = unsafe copenssl_set_minimum_version(context, TLS1_2_VERSION)
    // Records are written from the current location of the bytes, one at a time, and idle sessions
    // hold no buffers.
    unsafe copenssl_set_mode(
      context,
      Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS)
        | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    unsafe SSL_CTX_set_options(context, Self.options)
    // Sessions are resumed by tickets, which the clients store.
    unsafe copenssl_forgo_session_cache(context)
  }

  deinit { unsafe SSL_CTX_free(context) }

  /// SSL_OP_BIT(n) of ssl.h, whose macros Swift does not import.
  private static let options: UInt64 =
    // SSL_OP_NO_COMPRESSION, SSL_OP_NO_RENEGOTIATION
    1 << 17 | 1 << 30

  // MARK: Server

  /// Creates a server's context.
  ///
  /// Reads both files with blocking calls. They must match, and the certificate must be valid
  /// today.
  /// - Parameters:
  ///   - certificate: PEM: the server's certificate first, then the intermediates.
  ///   - key: PEM, without a passphrase.
  public convenience init(certificate: String, key: String) throws(TLSFileError) {
    try self.init(certificate: certificate, key: key, acceptingAnyDate: false)
  }

  /// As above; a test may need an expired certificate.
  package convenience init(
    certificate: String, key: String, acceptingAnyDate: Bool
  ) throws(TLSFileError) {
    try unsafe self.init(TLS_server_method())
    try TLSFiles.use(
      certificate: certificate, key: key, acceptingAnyDate: acceptingAnyDate, in: self)
    let name: [UInt8] = Array("relay".utf8)
    unsafe SSL_CTX_set_session_id_context(context, name, UInt32(name.count))
    unsafe SSL_CTX_set_alpn_select_cb(
      context,
      { _, selected, selectedCount, offered, offeredCount, _ in
        let http: [UInt8] = TLSContext.applicationProtocols
        var match: UnsafeMutablePointer<UInt8>?
        let code = unsafe SSL_select_next_proto(
          &match, selectedCount, offered, offeredCount, http, UInt32(http.count))
        // RFC 7301 §3.2: clients that offer only other protocols receive an alert.
        guard code == OPENSSL_NPN_NEGOTIATED, let match = unsafe match else {
          return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        unsafe selected?.pointee = UnsafePointer(match)
        return SSL_TLSEXT_ERR_OK
      }, nil)
  }

  /// `http/1.1`, prefixed by its length.
  private static let applicationProtocols: [UInt8] = [8] + Array("http/1.1".utf8)

  // MARK: Client

  /// Creates a client's context. To be shared: loading the system's authorities takes some
  /// milliseconds.
  public convenience init(trusting trust: TLSTrust) throws(TLSFileError) {
    try unsafe self.init(TLS_client_method())
    switch trust {
    case .system:
      unsafe SSL_CTX_set_default_verify_paths(context)
      unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    case .authorities(let file):
      try TLSFiles.trust(file, in: self)
      unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    case .anyone: unsafe SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
    }
    let protocols = Self.applicationProtocols
    unsafe SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count))
  }

  /// Allows at most TLS 1.2, for tests.
  package func disableTLS13() {
    _ = unsafe copenssl_set_maximum_version(context, TLS1_2_VERSION)
  }
}
