import Glibc

extension Configuration {
  /// `listen`, parsed. The `listen` value of a loaded configuration is always valid.
  public struct ListenAddress: Equatable, Sendable {
    /// An address, or a name that the system resolves; without the brackets of IPv6.
    public var host: String
    /// 0 = chosen by the system.
    public var port: UInt16

    /// Returns `nil` unless `text` is `HOST:PORT` or `[IPV6]:PORT`.
    public init?(_ text: String) {
      guard let colon = text.lastIndex(of: ":") else { return nil }
      let digits = text[text.index(after: colon)...]
      guard let port = UInt16(digits), String(port) == digits else { return nil }
      var host = text[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") {
        host = host.dropFirst().dropLast()
        guard Self.bytes(of: String(host), family: AF_INET6) != nil else { return nil }
      } else {
        let isName = host.utf8.allSatisfy {
          (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
            || $0 == 45 || $0 == 46
        }
        guard isName, !host.isEmpty else { return nil }
      }
      self.host = String(host)
      self.port = port
    }

    /// Whether only this machine can reach it. Of names, only `localhost` is known to be local.
    public var isLoopback: Bool {
      if host.lowercased() == "localhost" { return true }
      if let bytes = Self.bytes(of: host, family: AF_INET) { return bytes[0] == 127 }
      guard let bytes = Self.bytes(of: host, family: AF_INET6) else { return false }
      let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11] == [255, 255]
      return bytes == [UInt8](repeating: 0, count: 15) + [1] || (isMapped && bytes[12] == 127)
    }

    /// `inet_pton`.
    private static func bytes(of host: String, family: Int32) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
      let status = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe inet_pton(family, host, buffer.baseAddress)
      }
      return status == 1 ? bytes : nil
    }
  }
}
