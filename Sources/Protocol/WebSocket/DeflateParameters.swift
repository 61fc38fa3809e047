/// The parameters of permessage-deflate in an offer or a response (RFC 7692 §7.1).
public struct DeflateParameters: Equatable, Sendable {
  /// A parameter by its name on the wire.
  public enum Name: String, Sendable {
    /// RFC 7692 §7.1.1.1.
    case serverNoContextTakeover = "server_no_context_takeover"
    /// RFC 7692 §7.1.1.2.
    case clientNoContextTakeover = "client_no_context_takeover"
    /// RFC 7692 §7.1.2.1.
    case serverMaxWindowBits = "server_max_window_bits"
    /// RFC 7692 §7.1.2.2.
    case clientMaxWindowBits = "client_max_window_bits"
  }

  /// The error in an offer or a response.
  public enum Invalid: Error, Equatable, Sendable {
    /// None of the four parameters.
    case unknown
    /// A parameter occurs twice.
    case duplicate(Name)
    /// A superfluous or missing value, or one that is not a number from 8 to 15.
    case badValue(Name)
    /// A parameter in a response that no offer allows.
    case notOffered(Name)
    /// A parameter missing in a response, although each offer that allows the rest requires it.
    case missing(Name)
  }

  /// The name of the extension.
  static let extensionName = "permessage-deflate"

  /// The server begins each message with an empty window.
  public var serverNoContextTakeover = false
  /// The client begins each message with an empty window.
  public var clientNoContextTakeover = false
  /// The base-2 logarithm of the server's window in bytes, 8 to 15; `nil` = absent.
  public var serverMaxWindowBits: Int?
  /// The same for the client's window. In an offer 15 also stands for the parameter without a
  /// value: the client understands the parameter, and does not limit itself (§7.1.2.2).
  public var clientMaxWindowBits: Int?

  /// Creates parameters that are all absent.
  public init() {}

  /// - Parameter isOffer: only in an offer may `client_max_window_bits` have no value.
  init(_ parameters: [WebSocketExtension.Parameter], isOffer: Bool) throws(Invalid) {
    var seen: Set<Name> = []
    for parameter in parameters {
      guard let name = Name(rawValue: parameter.name) else { throw .unknown }
      guard seen.insert(name).inserted else { throw .duplicate(name) }
      switch name {
      case .serverNoContextTakeover, .clientNoContextTakeover:
        guard parameter.value == nil else { throw .badValue(name) }
        if name == .serverNoContextTakeover {
          serverNoContextTakeover = true
        } else {
          clientNoContextTakeover = true
        }
      case .serverMaxWindowBits:
        serverMaxWindowBits = try Self.bits(parameter.value, name)
      case .clientMaxWindowBits:
        let isBare = parameter.value == nil && isOffer
        clientMaxWindowBits = isBare ? 15 : try Self.bits(parameter.value, name)
      }
    }
  }

  /// Parses 8 to 15 in decimal digits without leading zeros.
  private static func bits(_ value: String?, _ name: Name) throws(Invalid) -> Int {
    guard let bits = (8...15).first(where: { "\($0)" == value }) else { throw .badValue(name) }
    return bits
  }

  /// Returns the element of the header's list.
  func headerValue(isOffer: Bool) -> String {
    var value = Self.extensionName
    if serverNoContextTakeover { value += "; \(Name.serverNoContextTakeover.rawValue)" }
    if clientNoContextTakeover { value += "; \(Name.clientNoContextTakeover.rawValue)" }
    if let serverMaxWindowBits {
      value += "; \(Name.serverMaxWindowBits.rawValue)=\(serverMaxWindowBits)"
    }
    if let clientMaxWindowBits {
      value += "; \(Name.clientMaxWindowBits.rawValue)"
      if !isOffer || clientMaxWindowBits < 15 { value += "=\(clientMaxWindowBits)" }
    }
    return value
  }
}

extension DeflateParameters.Invalid: CustomStringConvertible {
  /// The text that follows "the parameters are not valid:"; it contains nothing that the peer chose
  /// freely.
  public var description: String {
    switch self {
    case .unknown: "unknown parameter"
    case .duplicate(let name): "\(name.rawValue) is given twice"
    case .badValue(let name): "\(name.rawValue) has an invalid value"
    case .notOffered(let name): "\(name.rawValue) exceeds the offer"
    case .missing(let name): "\(name.rawValue) was requested but is missing"
    }
  }
}
