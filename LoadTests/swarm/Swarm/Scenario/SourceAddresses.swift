internal import Platform
internal import YAML

/// The local source addresses of connections: the ports of one address allow at most 28,232
/// connections to one relay.
enum SourceAddresses {
  private static let expected =
    "expected numeric addresses of this machine, such as [127.0.0.1, 127.0.0.2], or a number of"
    + " loopback addresses from 1 to 254"

  /// Parses the key `source_addresses`: a list, or a number.
  static func read(_ fields: inout YAMLFields) -> [Address] {
    let count = fields.optional("source_addresses", expected) { node -> Int? in
      if node.list?.isEmpty == false { return 0 }
      return node.integer(in: 1...254)
    }
    guard let count else { return [] }
    if count > 0 {
      return (1...count).compactMap { Address(numericHost: "127.0.0.\($0)", port: 0) }
    }
    return fields.list("source_addresses", "expected a numeric address, such as 127.0.0.2") {
      $0.text.flatMap { Address(numericHost: $0, port: 0) }
    }
  }

  /// Checks that every address can reach the relay.
  ///
  /// - Returns: The relay's addresses that can be reached.
  static func check(_ sources: [Address], to relay: [Address]) throws(Run.Failure) -> [Address] {
    guard let first = sources.first else { return relay }
    if let other = sources.first(where: { $0.isIPv6 != first.isIPv6 }) {
      throw Run.Failure(
        description: "source_addresses: \(first.host) and \(other.host) cannot both reach one"
          + " address: use only IPv4 or only IPv6 addresses", isUsage: true)
    }
    let reachable = relay.filter { $0.isIPv6 == first.isIPv6 }
    guard !reachable.isEmpty else {
      throw Run.Failure(
        description: "source_addresses: \(first.host) cannot reach the relay at \(relay[0]): use"
          + " \(first.isIPv6 ? "IPv4" : "IPv6") addresses", isUsage: true)
    }
    for source in sources {
      do throws(SystemError) {
        let listener = try Listener.claim(source)
        _ = consume listener
      } catch {
        throw Run.Failure(
          description:
            "source_addresses: \(source.host) is not an address of this machine (\(error));"
            + " see `ip address`", isUsage: true)
      }
    }
    return reachable
  }
}
