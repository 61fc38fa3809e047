/// The `error` message.
public struct WireError: Error, Equatable, Sendable {
  public var code: ErrorCode
  /// For a person: what happened, to what, and what to do.
  public var message: String
  /// The request that it answers.
  public var re: RequestName?
  /// The type of the request that it answers, if that is none of `RequestName`.
  public var unknownType: String?
  public var room: String?
  public var id: String?
  public var field: String?
  /// The `ref` of the request that it answers.
  public var ref: String?
  public var retryAfterMilliseconds: Int64?
  /// Milliseconds since 1970.
  public var resetAt: Int64?
  /// With `forbidden`: when the restriction ends, in milliseconds since 1970.
  public var until: Int64?
  /// An id to quote in a request for support.
  public var support: String?
  /// With `idConflict`: the `seq` of the entry that has the id.
  public var seq: Int64?

  public init(
    _ code: ErrorCode, _ message: String, re: RequestName? = nil, room: String? = nil,
    id: String? = nil, field: String? = nil, retryAfterMilliseconds: Int64? = nil
  ) {
    self.code = code
    self.message = message
    self.re = re
    self.room = room
    self.id = id
    self.field = field
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  /// The type of the request that it answers, as on the wire.
  public internal(set) var type: String? {
    get { re?.rawValue ?? unknownType }
    set {
      re = newValue.flatMap { RequestName(rawValue: $0) }
      unknownType = re == nil ? newValue : nil
    }
  }
}
