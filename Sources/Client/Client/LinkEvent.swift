package import Platform
package import WebSocket

/// What a link reports to its owner.
package enum LinkEvent {
  /// The opening handshake is complete.
  case opened
  /// A message, which `LinkInput.withMessage` passes; text is valid UTF-8.
  case message(Opcode)
  /// The connection is of no more use.
  case ended(LinkEnd)
}

/// The result of a link's read.
package enum LinkRead {
  /// This many bytes arrived; with TLS the plaintext in them, possibly none.
  case bytes(Int)
  case nothing
  case ended(LinkEnd)
}

/// Why a connection ended.
package enum LinkEnd {
  case handshake(HandshakeFailure)
  case violation(ProtocolViolation)
  /// The server sent a close frame.
  case closed(CloseCode, reason: String)
  case lost(SystemError?)
}

extension ClientError {
  /// Translates the end of a connection to a relay.
  package init(_ end: LinkEnd) {
    switch end {
    case .handshake(.refused(let status, let body)): self = .refused(status: status, body: body)
    case .handshake(let failure): self = .handshake(failure)
    case .violation(let violation): self = .violation(violation)
    case .closed(let code, let reason): self.init(closeCode: code, reason: reason)
    case .lost(let error): self = .lost(error)
    }
  }
}
