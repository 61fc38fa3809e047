/// The parameters of compression that both endpoints agreed to (RFC 7692 §7.1).
public struct DeflateAgreement: Equatable, Sendable {
  /// Whether the server's messages may refer to earlier ones.
  public let serverKeepsContext: Bool
  /// Whether the client's messages may refer to earlier ones.
  public let clientKeepsContext: Bool
  /// The base-2 logarithm of the maximum window of the server's compressor, 8 to 15.
  public let serverWindowBits: Int
  /// The base-2 logarithm of the maximum window of the client's compressor, 8 to 15.
  public let clientWindowBits: Int

  /// Creates the agreement that a response states: a missing parameter is no limit (RFC 7692 §7.1).
  public init(_ response: DeflateParameters) {
    serverKeepsContext = !response.serverNoContextTakeover
    clientKeepsContext = !response.clientNoContextTakeover
    serverWindowBits = response.serverMaxWindowBits ?? 15
    clientWindowBits = response.clientMaxWindowBits ?? 15
  }

  /// Whether the messages of `sender` may refer to earlier ones.
  func keepsContext(_ sender: Role) -> Bool {
    sender == .server ? serverKeepsContext : clientKeepsContext
  }

  /// Returns the base-2 logarithm of the maximum window of the compressor of `sender`.
  func windowBits(_ sender: Role) -> Int {
    sender == .server ? serverWindowBits : clientWindowBits
  }
}

// MARK: The server's side

extension DeflateAgreement {
  /// Accepts the first offer that can be met (RFC 7692 §5.1), and builds the response; returns
  /// `nil` if there is none. Illegal offers are ignored (§7.1).
  ///
  /// Neither endpoint keeps a window between messages, whatever was offered. A server may ask for
  /// both; so an idle connection has no zlib stream, and a message to many recipients is compressed
  /// once. zlib cannot compress with a window of 256 bytes (`server_max_window_bits=8`).
  static func answer(to offers: [WebSocketExtension])
    -> (agreement: DeflateAgreement, response: String)?
  {
    for offer in offers where offer.name == DeflateParameters.extensionName {
      guard let asked = try? DeflateParameters(offer.parameters, isOffer: true),
        asked.serverMaxWindowBits != 8
      else { continue }
      var response = DeflateParameters()
      response.serverNoContextTakeover = true
      response.clientNoContextTakeover = true
      response.serverMaxWindowBits = asked.serverMaxWindowBits
      return (DeflateAgreement(response), response.headerValue(isOffer: false))
    }
    return nil
  }
}

// MARK: The client's side

extension DeflateParameters {
  /// The offers, in order of preference, of a client that prefers to keep no window but accepts a
  /// server that insists.
  public static let clientOffers: [DeflateParameters] = {
    var frugal = DeflateParameters()
    frugal.serverNoContextTakeover = true
    frugal.clientNoContextTakeover = true
    frugal.clientMaxWindowBits = 15
    var other = DeflateParameters()
    other.clientMaxWindowBits = 15
    return [frugal, other]
  }()

  /// Checks a response against one offer.
  fileprivate func check(against offer: DeflateParameters) throws(Invalid) {
    guard serverNoContextTakeover || !offer.serverNoContextTakeover else {
      throw .missing(.serverNoContextTakeover)
    }
    // A server may set these parameters on its own: §7.1.1.1, §7.1.1.2 and §7.1.2.1.
    if let asked = offer.serverMaxWindowBits {
      guard let bits = serverMaxWindowBits else { throw .missing(.serverMaxWindowBits) }
      guard bits <= asked else { throw .notOffered(.serverMaxWindowBits) }
    }
    // §7.1.2.2: only a client that mentioned the parameter understands it.
    if let bits = clientMaxWindowBits {
      guard let offered = offer.clientMaxWindowBits, bits <= offered else {
        throw .notOffered(.clientMaxWindowBits)
      }
    }
  }
}

extension DeflateAgreement {
  /// Reads a server's response; returns `nil` if the server declined.
  /// - Parameter offers: those that were sent. The response does not name the one that it accepts,
  ///   so it has to match any of them.
  static func read(_ response: [WebSocketExtension], offers: [DeflateParameters])
    throws(HandshakeFailure) -> DeflateAgreement?
  {
    guard let first = response.first else { return nil }
    guard response.count == 1, first.name == DeflateParameters.extensionName, !offers.isEmpty
    else { throw .extensionUnexpected }
    do throws(DeflateParameters.Invalid) {
      let parameters = try DeflateParameters(first.parameters, isOffer: false)
      var reason: DeflateParameters.Invalid?
      for offer in offers {
        do throws(DeflateParameters.Invalid) {
          try parameters.check(against: offer)
          var agreed = parameters
          // The obligations of the client's own offer apply even if the server does not repeat
          // them.
          agreed.clientNoContextTakeover =
            agreed.clientNoContextTakeover || offer.clientNoContextTakeover
          if let offered = offer.clientMaxWindowBits {
            agreed.clientMaxWindowBits = agreed.clientMaxWindowBits ?? offered
          }
          return DeflateAgreement(agreed)
        } catch {
          reason = reason ?? error
        }
      }
      if let reason { throw reason }
    } catch {
      throw .deflateInvalid(error)
    }
    return nil
  }
}
