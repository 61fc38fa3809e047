/// The parameters of permessage-deflate (RFC 7692 §7.1), as an offer or as a response carries
/// them.
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

  /// What is wrong with an offer or a response.
  public enum Invalid: Error, Equatable, Sendable {
    /// None of the four.
    case unknown
    /// The same parameter twice.
    case duplicate(Name)
    /// A value where none belongs, none where one does, or not a number from 8 to 15.
    case badValue(Name)
    /// In a response, what no offer allows.
    case notOffered(Name)
    /// Not in the response, though each offer that allows the rest of it asks for it.
    case missing(Name)
  }

  /// The name of the extension.
  static let extensionName = "permessage-deflate"

  /// The server begins each message with an empty window.
  public var serverNoContextTakeover = false
  /// The client begins each message with an empty window.
  public var clientNoContextTakeover = false
  /// The base-2 logarithm of the server's window in bytes, 8 to 15; `nil` says nothing.
  public var serverMaxWindowBits: Int?
  /// The same of the client's window. In an offer 15 is also what a parameter without a value
  /// says: the client understands the parameter, and limits itself to nothing (§7.1.2.2).
  public var clientMaxWindowBits: Int?

  /// None of them.
  public init() {}

  /// - Parameter isOffer: `client_max_window_bits` may be without a value only in an offer.
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

  /// 8 to 15, in decimal digits without leading zeros.
  private static func bits(_ value: String?, _ name: Name) throws(Invalid) -> Int {
    guard let bits = (8...15).first(where: { "\($0)" == value }) else { throw .badValue(name) }
    return bits
  }

  /// The element of the header's list.
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
  /// What stands after "the parameters are not valid:"; nothing that the peer chose freely.
  public var description: String {
    switch self {
    case .unknown: "a parameter is unknown"
    case .duplicate(let name): "\(name.rawValue) is there twice"
    case .badValue(let name): "\(name.rawValue) has a value that it cannot have"
    case .notOffered(let name): "\(name.rawValue) goes beyond what was offered"
    case .missing(let name): "\(name.rawValue) was asked for and is missing"
    }
  }
}
