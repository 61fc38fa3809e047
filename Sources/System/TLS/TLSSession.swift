internal import COpenSSL
internal import Glibc

/// One side of a TLS connection (RFC 8446, RFC 5246), without I/O: converts ciphertext to
/// plaintext, and vice versa.
///
/// It stores no bytes except OpenSSL's state of an incomplete record: `receive` consumes every
/// byte, and all outgoing bytes are appended to `output`, also on failure, since the peer receives
/// an alert. Confined to one thread at a time.
@safe public struct TLSSession: ~Copyable {
  /// The state of a session.
  public enum State: Equatable, Sendable {
    /// Nothing can be sent yet.
    case handshaking
    case open
    /// The peer will send nothing more (`close_notify`); sending still works.
    case ended
    /// The session cannot be used any more.
    case failed(TLSFailure)
  }

  /// The maximum plaintext in one record (RFC 8446 §5.1).
  public static let recordBytes = 16_384
  /// The maximum overhead of a record, including its header.
  public static let recordOverheadBytes = 5 + 256
  /// The space that `receive` needs before the ciphertext.
  public static let headroomBytes = recordBytes

  /// The current state.
  public private(set) var state = State.handshaking
  private let ssl: OpaquePointer
  private let bio: OpaquePointer
  private var hasClosed = false

  /// The response of a server that creates no session for a client: the alert `internal_error` as
  /// plaintext, which stands for errors unrelated to the peer (RFC 8446 §6.2, in a record according
  /// to §5.1). Valid only before anything else was sent.
  public static let refusal: [UInt8] = [21, 3, 3, 0, 2, 2, 80]

  /// Creates the server's side of an accepted connection; `nil` if there is no memory.
  public init?(server context: TLSContext) {
    guard let made = unsafe Self.make(context) else { return nil }
    unsafe (ssl, bio) = unsafe made
    unsafe SSL_set_accept_state(ssl)
  }

  /// Creates the client's side; `begin` makes its first flight. `nil` if there is no memory.
  ///
  /// - Parameters:
  ///   - host: a name or a numeric address that the certificate must match, unless the context
  ///     trusts any server.
  ///   - ticket: from an earlier session with the same host and context; shortens the handshake.
  public init?(client context: TLSContext, host: String, resuming ticket: TLSTicket? = nil) {
    guard let made = unsafe Self.make(context) else { return nil }
    unsafe (ssl, bio) = unsafe made
    unsafe SSL_set_connect_state(ssl)
    // An address with a zone is link-local, and certificates contain no zones.
    let address = String(host.prefix { $0 != "%" })
    let parameters = unsafe SSL_get0_param(ssl)
    if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, address) != 1 {
      // RFC 6066 §3: server names are not addresses.
      unsafe SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
      let isName = unsafe SSL_set1_host(ssl, host) == 1 && copenssl_set_server_name(ssl, host) == 1
      if !isName {
        state = .failed(.untrusted("\(host) is not a valid host name for a certificate"))
      }
    }
    if let ticket { unsafe SSL_set_session(ssl, ticket.session) }
  }

  private static func make(_ context: TLSContext) -> (ssl: OpaquePointer, bio: OpaquePointer)? {
    guard let ssl = unsafe SSL_new(context.context) else { return nil }
    guard let bio = unsafe TLSExchange.makeBIO() else {
      unsafe SSL_free(ssl)
      return nil
    }
    // The BIO is used for both directions, but owned only once.
    unsafe SSL_set_bio(ssl, bio, bio)
    return unsafe (ssl, bio)
  }

  deinit {
    // Otherwise OpenSSL does not resume a session whose connection was lost.
    unsafe SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
    unsafe SSL_free(ssl)
  }

  // MARK: From the peer

  /// Appends a client's first flight to `output`.
  public mutating func begin(output: inout [UInt8]) {
    guard state == .handshaking else { return }
    let (ssl, bio) = unsafe (ssl, bio)
    state = unsafe TLSExchange.run(bio, reading: nil, 0, writing: &output) {
      unsafe Self.shakeHands(ssl)
    }
  }

  /// Decrypts all received bytes, and writes the plaintext to the buffer's front. Check `state`
  /// afterwards: the session may have ended after the plaintext.
  ///
  /// - Parameters:
  ///   - buffer: holds the ciphertext at its back. One buffer is sufficient, since plaintext is
  ///     never longer than its ciphertext, except for the rest of the previous record.
  ///   - ciphertext: its range in the buffer; starts at `headroomBytes` or later.
  /// - Returns: the number of plaintext bytes, possibly 0.
  public mutating func receive(
    in buffer: inout MutableSpan<UInt8>, ciphertext: Range<Int>, output: inout [UInt8]
  ) -> Int {
    precondition(
      ciphertext.lowerBound >= Self.headroomBytes && ciphertext.upperBound <= buffer.count,
      "the plaintext would overwrite unread ciphertext")
    guard state == .handshaking || state == .open else { return 0 }
    let (ssl, bio, before) = unsafe (ssl, bio, state)
    let (count, after) = unsafe buffer.withUnsafeMutableBufferPointer { bytes in
      let start = bytes.baseAddress
      return unsafe TLSExchange.run(
        bio, reading: start.map { unsafe UnsafePointer($0 + ciphertext.lowerBound) },
        ciphertext.count, writing: &output
      ) {
        unsafe Self.read(ssl, before, into: bytes)
      }
    }
    state = after
    return count
  }

  private static func shakeHands(_ ssl: OpaquePointer) -> State {
    ERR_clear_error()
    let code = unsafe SSL_do_handshake(ssl)
    if code == 1 { return .open }
    return unsafe SSL_get_error(ssl, code) == SSL_ERROR_WANT_READ
      ? .handshaking : .failed(TLSFailure(of: ssl))
  }

  private static func read(
    _ ssl: OpaquePointer, _ state: State, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, State) {
    var state = state
    if state == .handshaking { state = unsafe shakeHands(ssl) }
    var count = 0
    while state == .open {
      var taken = 0
      let room = min(recordBytes, buffer.count - count)
      ERR_clear_error()
      let code = unsafe SSL_read_ex(ssl, buffer.baseAddress.map { unsafe $0 + count }, room, &taken)
      if code == 1 {
        count += taken
        continue
      }
      switch unsafe SSL_get_error(ssl, code) {
      case SSL_ERROR_WANT_READ: return (count, .open)
      case SSL_ERROR_ZERO_RETURN: state = .ended
      default: state = .failed(unsafe TLSFailure(of: ssl))
      }
    }
    return (count, state)
  }

  // MARK: To the peer

  /// Appends one record with the front of `plaintext` to `output`.
  ///
  /// - Returns: the number of plaintext bytes in it; 0 if the session is not open.
  public mutating func send(_ plaintext: Span<UInt8>, output: inout [UInt8]) -> Int {
    guard state == .open || state == .ended, !hasClosed, !plaintext.isEmpty else { return 0 }
    let (ssl, bio) = unsafe (ssl, bio)
    let (taken, failure) = unsafe plaintext.withUnsafeBufferPointer { bytes in
      unsafe TLSExchange.run(bio, reading: nil, 0, writing: &output) {
        () -> (Int, TLSFailure?) in
        var taken = 0
        ERR_clear_error()
        let code = unsafe SSL_write_ex(
          ssl, bytes.baseAddress, min(bytes.count, Self.recordBytes), &taken)
        return code == 1 ? (taken, nil) : (0, unsafe TLSFailure(of: ssl))
      }
    }
    if let failure { state = .failed(failure) }
    return taken
  }

  /// Appends `close_notify` to `output`, once (RFC 8446 §6.1). Reading continues.
  public mutating func close(output: inout [UInt8]) {
    guard state == .open || state == .ended, !hasClosed else { return }
    hasClosed = true
    let (ssl, bio) = unsafe (ssl, bio)
    unsafe TLSExchange.run(bio, reading: nil, 0, writing: &output) {
      ERR_clear_error()
      _ = unsafe SSL_shutdown(ssl)
    }
  }

  // MARK: Negotiated parameters

  /// `TLSv1.2` or `TLSv1.3`, after the handshake.
  public var version: String { unsafe String(cString: SSL_get_version(ssl)) }

  /// Whether the session was resumed by a ticket.
  public var isResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

  /// The negotiated protocol (ALPN, RFC 7301).
  public var applicationProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(ssl, &name, &count)
    guard let name = unsafe name else { return nil }
    return unsafe String(
      decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
  }

  /// A client's ticket for resumption; `nil` before the server has sent one.
  public var ticket: TLSTicket? {
    guard state == .open || state == .ended, let session = unsafe SSL_get1_session(ssl) else {
      return nil
    }
    let ticket = unsafe TLSTicket(owning: session)
    return unsafe SSL_SESSION_is_resumable(session) == 1 ? ticket : nil
  }
}

/// A session ticket that a client received from a server (RFC 8446 §2.2, RFC 5077).
@safe public final class TLSTicket: Sendable {
  // Immutable, and reference-counted atomically by OpenSSL.
  nonisolated(unsafe) let session: OpaquePointer

  init(owning session: OpaquePointer) { unsafe self.session = unsafe session }

  deinit { unsafe SSL_SESSION_free(session) }
}
