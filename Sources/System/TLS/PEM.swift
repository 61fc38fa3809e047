/// The blocks of a PEM file (RFC 7468). OpenSSL skips the blocks that it does not look for, and those
/// after the one that it has found, without a word.
package enum PEM {
  /// Returns the labels of the blocks, such as `CERTIFICATE`, in the order of the file.
  package static func labels(in bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let text =
        String(decoding: line, as: UTF8.self)
        .split(separator: "\r", omittingEmptySubsequences: true).first ?? ""
      guard text.hasPrefix("-----BEGIN "), let end = text.dropFirst(11).firstRange(of: "-----")
      else { return nil }
      return String(text[text.index(text.startIndex, offsetBy: 11)..<end.lowerBound])
    }
  }

  static func isCertificate(_ label: String) -> Bool {
    ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label)
  }

  static func isPrivateKey(_ label: String) -> Bool { label.hasSuffix("PRIVATE KEY") }
}
