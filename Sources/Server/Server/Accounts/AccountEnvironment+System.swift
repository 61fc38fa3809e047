import Accounts
internal import CQRCode
import Glibc
internal import TLS

extension AccountEnvironment {
  /// Returns the environment of this machine: hashes by OpenSSL, random bytes of the system, QR codes by
  /// libqrencode.
  init(
    _ names: ReservedNames,
    isKnown: @escaping @Sendable (String) throws(AccountError) -> Bool,
    hasTakenPart: @escaping @Sendable (String) throws(AccountError) -> Bool
  ) {
    self.init(
      hash: Self.sha256, random: Self.randomBytes, qrCode: Self.rows(ofQRCode:),
      isReserved: { names.contains($0) }, isOperator: { names.isOperator($0) },
      isBanned: { names.isBanned($0, now: $1) }, directoryName: { names.directoryName($0) },
      isKnown: isKnown, hasTakenPart: hasTakenPart)
  }

  static func sha256(_ bytes: [UInt8]) -> SecretHash {
    guard let hash = SecretHash(SHA256Digest.of(bytes)) else {
      preconditionFailure("SHA-256 has 32 bytes")
    }
    return hash
  }

  /// Returns random bytes of the system's generator (getrandom(2)).
  static func randomBytes(_ count: Int) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<count).map { _ in random.next() }
  }

  /// Returns the modules of a QR code (ISO/IEC 18004) with 15 % redundancy; empty for a text that is too
  /// long.
  static func rows(ofQRCode text: String) -> [String] {
    guard
      let code = unsafe QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M)
    else { return [] }
    defer { unsafe QRcode_free(code) }
    let width = Int(unsafe code.pointee.width)
    return (0..<width).map { row in
      String(
        decoding: (0..<width).map { column in
          unsafe code.pointee.data[row * width + column] & 1 == 1
            ? UInt8(ascii: "1") : UInt8(ascii: "0")
        }, as: UTF8.self)
    }
  }
}
