/// What both ends agreed to about compression (RFC 7692 §7.1).
public struct DeflateAgreement: Equatable, Sendable {
  /// Whether the server's messages may refer to those before them.
  public let serverKeepsContext: Bool
  /// Whether the client's messages may refer to those before them.
  public let clientKeepsContext: Bool
  /// The base-2 logarithm of the largest window of the server's compressor, 8 to 15.
  public let serverWindowBits: Int
  /// The base-2 logarithm of the largest window of the client's compressor, 8 to 15.
  public let clientWindowBits: Int

  /// What a response means: what it leaves out is not limited (RFC 7692 §7.1).
  public init(_ response: DeflateParameters) {
    serverKeepsContext = !response.serverNoContextTakeover
    clientKeepsContext = !response.clientNoContextTakeover
    serverWindowBits = response.serverMaxWindowBits ?? 15
    clientWindowBits = response.clientMaxWindowBits ?? 15
  }

  /// Whether that end's messages may refer to those before them.
  func keepsContext(_ sender: Role) -> Bool {
    sender == .server ? serverKeepsContext : clientKeepsContext
  }

  /// The largest window of that end's compressor.
  func windowBits(_ sender: Role) -> Int {
    sender == .server ? serverWindowBits : clientWindowBits
  }
}

// MARK: The server's side

extension DeflateAgreement {
  /// Takes the first offer that can be met (RFC 7692 §5.1), and makes the response; `nil` if there
  /// is none. An offer that is not legal is passed over (§7.1).
  ///
  /// Neither end keeps a window from message to message, whatever was offered: a server may ask
  /// for both, so that a connection at rest has no zlib stream, and a message to many is compressed
  /// once. A window of 256 bytes is not offered by zlib (`server_max_window_bits=8`).
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
  /// What a client offers that would rather keep no window, but gets on with a server that insists:
  /// the dearest first.
  public static let clientOffers: [DeflateParameters] = {
    var frugal = DeflateParameters()
    frugal.serverNoContextTakeover = true
    frugal.clientNoContextTakeover = true
    frugal.clientMaxWindowBits = 15
    var other = DeflateParameters()
    other.clientMaxWindowBits = 15
    return [frugal, other]
  }()

  /// Holds a response against one offer.
  fileprivate func check(against offer: DeflateParameters) throws(Invalid) {
    guard serverNoContextTakeover || !offer.serverNoContextTakeover else {
      throw .missing(.serverNoContextTakeover)
    }
    // What a server may say of its own accord: §7.1.1.1, §7.1.1.2 and §7.1.2.1.
    if let asked = offer.serverMaxWindowBits {
      guard let bits = serverMaxWindowBits else { throw .missing(.serverMaxWindowBits) }
      guard bits <= asked else { throw .notOffered(.serverMaxWindowBits) }
    }
    // §7.1.2.2: only a client that mentioned it understands it.
    if let bits = clientMaxWindowBits {
      guard let offered = offer.clientMaxWindowBits, bits <= offered else {
        throw .notOffered(.clientMaxWindowBits)
      }
    }
  }
}

extension DeflateAgreement {
  /// Reads a server's response; `nil` if it declined.
  /// - Parameter offers: those that were sent; the response does not say which it is about, so it
  ///   has to follow from one of them.
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
          // What our offer bound us to holds without the server's word.
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
