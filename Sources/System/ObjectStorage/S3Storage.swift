internal import Glibc
internal import Platform
internal import Synchronization

/// Objects in a bucket of S3, or of a service that speaks its protocol.
public final class S3Storage: ObjectStorage {
  public struct Location: Sendable {
    public var bucket: String
    /// What the names of all objects begin with: empty, or it ends with a slash.
    public var prefix: String
    public var region: String
    /// The URL of a service other than Amazon's, without a path; `nil` = Amazon's.
    public var endpoint: String?

    public init(bucket: String, prefix: String, region: String, endpoint: String?) {
      (self.bucket, self.prefix) = (bucket, prefix)
      (self.region, self.endpoint) = (region, endpoint)
    }
  }

  /// Those of a backup: no user waits for it.
  public static let patientAttempts = 6
  private static let firstWaitMilliseconds: UInt32 = 200

  public let description: String
  private let location: Location
  private let signature: S3Signature
  private let connection = Mutex(S3Connection())
  private let attempts: Int

  /// - Parameter attempts: how often a request is made that fails for a reason that may pass.
  public init(
    _ location: Location, _ credentials: S3Credentials, attempts: Int = patientAttempts
  ) {
    self.attempts = attempts
    self.location = location
    signature = S3Signature(credentials: credentials, region: location.region)
    var place = "s3://\(location.bucket)/\(location.prefix)"
    if place.hasSuffix("/") { place.removeLast() }
    description = place
  }

  public func folder(_ name: String) -> any ObjectStorage {
    var inner = location
    inner.prefix += "\(name)/"
    return S3Storage(inner, signature.credentials)
  }

  /// S3 does not keep others from writing: a backup notices it by its digests.
  public func claim() {}

  public func put(_ bytes: [UInt8], as name: String) throws(StorageError) {
    _ = try request("PUT", name, content: bytes)
  }

  public func get(_ name: String, _ range: Range<Int>?) throws(StorageError) -> [UInt8] {
    // Of an empty object there is no range.
    let range = range.map { "range: bytes=\($0.lowerBound)-\($0.upperBound - 1)" }
    return try request("GET", name, header: range).body
  }

  /// Returns a part of an object without what is beyond its end, and the size of the whole.
  public func part(
    _ range: Range<Int64>, of name: String
  ) throws(StorageError) -> (bytes: [UInt8], size: Int64) {
    let answer = try request(
      "GET", name, header: "range: bytes=\(range.lowerBound)-\(range.upperBound - 1)")
    // RFC 9110 §14.4: `bytes 0-15/100`, and `bytes */0` of an empty object.
    let size = answer.contentRange.split(separator: "/").last.flatMap { Int64($0) }
    guard let size else {
      throw unreachable("it does not say the size of an object, by Content-Range")
    }
    return (answer.body, size)
  }

  public func delete(_ name: String) throws(StorageError) { _ = try request("DELETE", name) }

  public func list() throws(StorageError) -> [String] {
    var names: [String] = []
    var token: String?
    repeat {
      let page = try page(token)
      names += page.objects.map(\.name)
      token = page.next
    } while token != nil
    return names.sorted()
  }

  /// Returns some of the objects, each with the time when it was stored.
  /// - Parameters:
  ///   - token: `next` of the page before; `nil` = the first page.
  ///   - limit: `nil` = the service's own.
  public func page(
    _ token: String?, limit: Int? = nil
  ) throws(StorageError) -> (objects: [(name: String, storedAt: String)], next: String?) {
    try page(token.map { [("continuation-token", $0)] } ?? [], limit: limit)
  }

  public func names(
    startingWith start: String, after name: String, limit: Int
  ) throws(StorageError) -> [String] {
    let query = name.isEmpty ? [] : [("start-after", location.prefix + name)]
    return try page(query, startingWith: start, limit: limit).objects.map(\.name)
  }

  private func page(
    _ place: [(String, String)], startingWith start: String = "", limit: Int?
  ) throws(StorageError) -> (objects: [(name: String, storedAt: String)], next: String?) {
    var query = place
    query += [("delimiter", "/"), ("list-type", "2"), ("prefix", location.prefix + start)]
    if let limit { query.append(("max-keys", String(limit))) }
    // The signature has them in the order of their names.
    query.sort { $0.0 < $1.0 }
    let page = String(decoding: try request("GET", nil, query: query).body, as: UTF8.self)
    let objects = Self.texts(of: "Contents", in: page).map { object in
      let key = Self.texts(of: "Key", in: object).first ?? ""
      return (
        name: String(key[(key.lastIndex(of: "/").map(key.index(after:)) ?? key.startIndex)...]),
        storedAt: Self.texts(of: "LastModified", in: object).first.map(String.init) ?? ""
      )
    }
    return (objects, Self.texts(of: "NextContinuationToken", in: page).first.map(Self.unescaped))
  }

  // MARK: - Requests

  /// Carries out a request, again if it fails for a reason that may pass.
  /// - Parameter name: the object; `nil` = the bucket.
  func request(
    _ method: String, _ name: String?, query: [(String, String)] = [], header: String? = nil,
    content: [UInt8] = []
  ) throws(StorageError) -> S3Connection.Answer {
    var wait = Self.firstWaitMilliseconds
    var attempt = 1
    while true {
      let answer = send(method, name, query, header, content)
      switch answer {
      case .answer(let answer) where (200..<300).contains(answer.status): return answer
      // RFC 9110 §15.5.17: the range begins after the end.
      case .answer(var answer) where answer.status == 416:
        answer.body = []
        return answer
      case .answer(let answer) where !Self.mayPass(answer.status):
        throw refusal(answer.status, String(decoding: answer.body, as: UTF8.self), name)
      case .answer(let answer):
        if attempt == attempts { throw unreachable("it answers with status \(answer.status)") }
      case .failure(let reason):
        if attempt == attempts { throw unreachable(reason) }
      }
      usleep(wait * 1000 + UInt32.random(in: 0..<wait * 500))
      wait *= 2
      attempt += 1
    }
  }

  private func send(
    _ method: String, _ name: String?, _ query: [(String, String)], _ header: String?,
    _ content: [UInt8]
  ) -> S3Connection.Outcome {
    let key = name.map { S3Signature.encoded(location.prefix + $0, keeping: "/") } ?? ""
    let (origin, path) =
      location.endpoint.map { ($0, "/\(location.bucket)/\(key)") }
      ?? ("https://\(location.bucket).s3.\(location.region).amazonaws.com", "/\(key)")
    let encoded = query.map { "\($0.0)=\(S3Signature.encoded($0.1))" }.joined(separator: "&")
    let host = String(origin[(origin.firstRange(of: "://")?.upperBound ?? origin.startIndex)...])
    var headers = signature.headers(
      method: method, host: host, path: path, query: encoded, content: content, time: Self.now)
    if let header { headers.append(header) }
    let url = origin + path + (encoded.isEmpty ? "" : "?\(encoded)")
    return connection.withLock {
      $0.send(
        method, url, headers: headers, content: ["PUT", "POST"].contains(method) ? content : nil)
    }
  }

  private static var now: String { UTC.text(WallClock.milliseconds, "%Y%m%dT%H%M%SZ") }

  // MARK: - Errors

  private static func mayPass(_ status: Int) -> Bool {
    status >= 500 && status != 501 || status == 429 || status == 408
  }

  func unreachable(_ reason: String) -> StorageError {
    StorageError(
      .unavailable,
      "\(description) cannot be reached: \(reason). Check the network and the service.")
  }

  private func refusal(_ status: Int, _ body: String, _ name: String?) -> StorageError {
    let code = Self.texts(of: "Code", in: body).first.map(String.init) ?? "status \(status)"
    let what = name.map { "The object \(description)/\($0)" } ?? description
    switch (status, code) {
    case (404, let code) where code != "NoSuchBucket" && name != nil:
      return StorageError(.missing, "\(what) does not exist.")
    case (404, _):
      return StorageError(
        .refused, "There is no bucket \(location.bucket) (\(code)). Create it, or check its name.")
    case (301, _), (307, _), (400, "AuthorizationHeaderMalformed"):
      return StorageError(
        .refused,
        "The bucket \(location.bucket) is in another region than \(location.region) (\(code)). Give its "
          + "region by --region or AWS_REGION.")
    case (401, _), (403, _), (400, "ExpiredToken"), (400, "InvalidToken"):
      return StorageError(
        .refused,
        "\(what) may not be accessed (\(code)). Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and "
          + "AWS_SESSION_TOKEN, this machine's clock, and that they allow to list the bucket, and to read, write "
          + "and delete its objects.")
    default:
      return StorageError(.refused, "\(what) cannot be used: the service answers \(code).")
    }
  }

  /// Returns the texts of all elements of a name.
  static func texts(of element: String, in document: some StringProtocol) -> [Substring] {
    var texts: [Substring] = []
    var rest = Substring(document)
    while let start = rest.firstRange(of: "<\(element)>")?.upperBound,
      let end = rest[start...].firstRange(of: "</\(element)>")
    {
      texts.append(rest[start..<end.lowerBound])
      rest = rest[end.upperBound...]
    }
    return texts
  }

  static func unescaped(_ text: Substring) -> String {
    var text = String(text)
    for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
      text.replace(entity, with: character)
    }
    return text
  }
}
