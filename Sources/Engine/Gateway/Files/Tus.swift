package import WebSocket
import Wire

/// tus 1.0.0, the protocol of uploads that go on after a break (https://tus.io/protocols/resumable-upload): what the
/// relay speaks of it, and how it reads the head of a request.
package enum Tus {
  static let version = "1.0.0"
  static let extensions = "creation,creation-with-upload,checksum,termination,expiration"
  static let mediaType = "application/offset+octet-stream"
  /// The relay keeps the metadata of all uploads in memory.
  package static let metadataLimitBytes = 2048

  /// The fields of requests that a page of another site may send (CORS).
  static let requestFields =
    "Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum, X-HTTP-Method-Override, Range, If-Range, If-None-Match"

  /// Throws unless the request is of this version.
  static func check(_ request: HTTPRequest) throws(HTTPProblem) {
    guard request.headers.only("Tus-Resumable") == version else {
      var problem = HTTPProblem(
        412, "Uploads need the header Tus-Resumable: \(version) (https://tus.io).", code: .badField,
        field: "Tus-Resumable")
      problem.fields = [HTTPResponse.Field(name: "Tus-Version", value: version)]
      // Every answer has it; the router adds it to those of requests that have one.
      if !isSpoken(in: request) {
        problem.fields.append(HTTPResponse.Field(name: "Tus-Resumable", value: version))
      }
      throw problem
    }
  }

  /// Whether the request is one of tus, and so its answer has to be, too.
  static func isSpoken(in request: HTTPRequest) -> Bool {
    !request.headers["Tus-Resumable"].isEmpty
  }

  /// Returns the method of a request: clients that cannot send any method name it in a header, which counts
  /// instead.
  static func method(of request: HTTPRequest) -> String {
    request.headers.only("X-HTTP-Method-Override") ?? request.method
  }

  /// What `OPTIONS` says of uploads.
  /// - Parameter limitBytes: of one file; 0 = none.
  static func options(limitBytes: Int) -> [HTTPResponse.Field] {
    var fields = [
      ("Tus-Resumable", version), ("Tus-Version", version), ("Tus-Extension", extensions),
      (
        "Tus-Checksum-Algorithm",
        UploadChecksum.Algorithm.allCases.map(\.rawValue).joined(separator: ",")
      ),
    ]
    if limitBytes > 0 { fields.append(("Tus-Max-Size", String(limitBytes))) }
    return fields.map { HTTPResponse.Field(name: $0.0, value: $0.1) }
  }

  /// Reads a header that is a number of bytes.
  package static func length(_ name: String, _ request: HTTPRequest) throws(HTTPProblem) -> Int64 {
    let text = request.headers.only(name) ?? ""
    guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int64(text)
    else {
      throw HTTPProblem(
        400, "The header \(name) must be a number of bytes.", code: .badField, field: name)
    }
    return number
  }

  /// Checks `Upload-Metadata`: pairs of a name and a value in Base64, which may be missing.
  /// - Returns: the header as it came; `HEAD` repeats it.
  package static func metadata(_ request: HTTPRequest) throws(HTTPProblem) -> String {
    let text = request.headers["Upload-Metadata"].joined(separator: ",")
    guard text.utf8.count <= metadataLimitBytes else {
      throw HTTPProblem(
        413,
        "Upload-Metadata has at most \(metadataLimitBytes) bytes; send shorter values, or none.",
        code: .tooLarge, field: "Upload-Metadata")
    }
    var names: Set<Substring> = []
    for pair in text.split(separator: ",") {
      let parts = pair.split(separator: " ")
      let value = parts.count == 2 ? Base64.decode(String(parts[1])) : []
      guard (1...2).contains(parts.count), names.insert(parts[0]).inserted, value != nil else {
        throw HTTPProblem(
          400,
          "Upload-Metadata must be pairs of a name and a value in Base64, such as filename Y2F0LnBuZw==, with commas"
            + " between them, each name once.", code: .badField, field: "Upload-Metadata")
      }
    }
    return text
  }
}

/// What the bytes of a request are checked against (tus, Checksum).
package struct UploadChecksum: Equatable, Sendable {
  package enum Algorithm: String, CaseIterable, Sendable {
    case sha1, sha256

    package var digestBytes: Int { self == .sha1 ? 20 : 32 }
  }

  package var algorithm: Algorithm
  package var digest: [UInt8]
}

extension UploadChecksum {
  /// Reads `Upload-Checksum`; `nil` if there is none.
  package init?(_ request: HTTPRequest) throws(HTTPProblem) {
    let fields = request.headers["Upload-Checksum"]
    if fields.isEmpty { return nil }
    let parts = fields.count == 1 ? fields[0].split(separator: " ") : []
    guard parts.count == 2, let algorithm = Algorithm(rawValue: String(parts[0])),
      let digest = Base64.decode(String(parts[1])), digest.count == algorithm.digestBytes
    else {
      throw HTTPProblem(
        400, "Upload-Checksum must be sha1 or sha256, a space, and the digest in Base64.",
        code: .badField, field: "Upload-Checksum")
    }
    (self.algorithm, self.digest) = (algorithm, digest)
  }
}
