package import TLS

/// Encrypted links.
extension LinkExecutor {
  /// Begins the TLS handshake.
  package func secure(
    with context: TLSContext, host: String, resuming ticket: TLSTicket? = nil
  ) {
    guard let tls = TLSChannel(client: context, host: host, resuming: ticket) else {
      return lose(.notEncrypted(.broken("out of memory")))
    }
    connection.link.secure(tls)
    outputWaits()
  }

  /// Handles the state of the TLS session after a read; it may have ended.
  package func followEncryption(with host: String) {
    guard let tls = connection.link.tls else { return }
    switch tls.state {
    case .handshaking: outputWaits()
    case .open:
      if case .securing = connection.link.phase { greet() }
      if connection.link.hasOutput { outputWaits() }
    case .ended: ended(connection.link.end(nil))
    case .failed(let failure):
      // Sends the alert that tells the server why.
      connection.link.flush()
      if case .untrusted(let reason) = failure {
        lose(.untrusted(host: host, reason: reason))
      } else {
        lose(.notEncrypted(failure))
      }
    }
  }
}
