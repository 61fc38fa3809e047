internal import YAML

extension Configuration.Files {
  /// A name or address, and perhaps a port: `NAME`, `NAME:PORT` or `[IPV6]:PORT`.
  public struct Place: Equatable, Sendable {
    /// In lower case; an address of IPv6 has its brackets.
    public var name: String
    public var port: UInt16?

    /// Returns `nil` for anything else.
    public init?(_ text: String) {
      let hasPort = Configuration.ListenAddress(text) != nil
      guard let address = Configuration.ListenAddress(hasPort ? text : "\(text):1"),
        !text.contains(where: \.isUppercase), address.port > 0
      else { return nil }
      name = text.hasPrefix("[") ? "[\(address.host)]" : address.host
      port = hasPort ? address.port : nil
    }

    /// Whether only this machine can reach it.
    var isLoopback: Bool { Configuration.ListenAddress("\(name):1")?.isLoopback ?? false }
  }

  /// Where browsers get files; `nil` = where they get the page.
  public var place: Place? { host.isEmpty ? nil : Place(host) }
}

extension Configuration {
  /// Contradictions of `files.host`.
  var fileHostContradictions: [Contradiction] {
    guard let place = files.place else { return [] }
    guard let origin = auth.publicURL.split(separator: "/").last else {
      if place.isLoopback { return [] }
      return [
        Contradiction(
          key: "files.host",
          found: "is \(YAMLText.quoted(files.host)), but auth.public_url is empty",
          expected:
            "set auth.public_url to where browsers find the page, such as https://chat.example.org: files are "
            + "found under the same scheme, and at the same port unless files.host has one")
      ]
    }
    guard Files.Place(String(origin))?.name == place.name else { return [] }
    return [
      Contradiction(
        key: "files.host", found: "is the host of auth.public_url, \(auth.publicURL)",
        expected:
          "choose another name, such as files.example.org: browsers send the cookies of a host to all of its ports"
      )
    ]
  }
}
