internal import COpenSSL

/// Why a TLS session failed; prints as a sentence without a full stop.
public enum TLSFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// HTTP without TLS was received.
  case plainHTTP
  /// The received data is not TLS.
  case notTLS
  /// The peer's certificate could not be verified; OpenSSL's reason.
  case untrusted(String)
  /// The peer sent an alert (RFC 8446 §6), or violated the protocol; OpenSSL's reason.
  case broken(String)

  /// The failure as one line.
  public var description: String {
    switch self {
    case .plainHTTP: "HTTP without TLS"
    case .notTLS: "the peer does not use TLS"
    case .untrusted(let reason): "its certificate is not trusted: \(reason)"
    case .broken(let reason): "TLS failed: \(reason)"
    }
  }

  /// Takes the first error of the thread's queue, after a call on this session has failed.
  init(of ssl: OpaquePointer) {
    let code = ERR_get_error()
    let reason = copenssl_error_reason(code)
    let verification = unsafe SSL_get_verify_result(ssl)
    switch (copenssl_error_is_ssl(code) != 0, reason) {
    case (true, SSL_R_HTTP_REQUEST), (true, SSL_R_HTTPS_PROXY_REQUEST): self = .plainHTTP
    case (true, SSL_R_WRONG_VERSION_NUMBER), (true, SSL_R_PACKET_LENGTH_TOO_LONG),
      (true, SSL_R_BAD_PACKET_LENGTH):
      self = .notTLS
    case (true, SSL_R_CERTIFICATE_VERIFY_FAILED) where verification != X509_V_OK:
      let text = unsafe X509_verify_cert_error_string(verification)
      self = .untrusted(unsafe text.map { unsafe String(cString: $0) } ?? "error \(verification)")
    default: self = .broken(Self.text(of: code))
    }
    ERR_clear_error()
  }

  /// Returns OpenSSL's message for an error.
  static func text(of code: UInt) -> String {
    guard code != 0 else { return "the connection was closed unexpectedly" }
    if copenssl_error_is_system(code) == 0, let text = unsafe ERR_reason_error_string(code) {
      return unsafe String(cString: text)
    }
    return "error \(copenssl_error_reason(code))"
  }
}

/// A certificate, a key or a list of authorities that cannot be used: a sentence for the operator.
public struct TLSFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file's path, and what is wrong with it.
  public var description: String

  init(_ description: String) { self.description = description }
}
