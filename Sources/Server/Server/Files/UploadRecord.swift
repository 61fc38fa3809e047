import Gateway
import TLS
import WebSocket
import Wire

/// What is kept of an upload beside its bytes. It never changes.
struct UploadRecord: Equatable, Sendable {
  static let limitBytes = 1 << 17

  var user: String
  var bytes: Int64
  /// Milliseconds since 1970.
  var expiresAt: Int64
  var metadata: String

  var json: [UInt8] {
    var json = Array("{\"user\":".utf8)
    json.append(jsonString: user)
    json += Array(",\"bytes\":\(bytes),\"expires_at\":\(expiresAt)".utf8)
    json += Array(",\"metadata\":".utf8)
    json.append(jsonString: metadata)
    return json + [UInt8(ascii: "}")]
  }

  func upload(_ id: String, offset: Int64) -> Upload {
    Upload(id: id, bytes: bytes, offset: offset, metadata: metadata, expiresAt: expiresAt)
  }
}

extension UploadRecord {
  /// `nil` if it is damaged.
  init?(json: [UInt8]) {
    guard let json = JSONNode(json), let user = json["user"]?.string,
      let bytes = json["bytes"]?.integer, let expiresAt = json["expires_at"]?.integer,
      let metadata = json["metadata"]?.string
    else { return nil }
    self.init(user: user, bytes: bytes, expiresAt: expiresAt, metadata: metadata)
  }
}

/// Random names, which cannot be guessed and are never given twice.
enum RandomName {
  static func next(bytes: Int) -> String {
    var random = SystemRandomNumberGenerator()
    return next(bytes: bytes, using: &random)
  }

  static func next(bytes: Int, using random: inout some RandomNumberGenerator) -> String {
    Base64.encodeForURL(
      (0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &random) })
  }
}
