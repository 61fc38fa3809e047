/// The reason for which the relay closes a connection: the codes that it uses of RFC 6455 §7.4, and
/// its own.
public enum CloseReason: UInt16, Sendable {
  case normal = 1000
  case goingAway = 1001
  case protocolError = 1002
  case unsupportedData = 1003
  case policyViolation = 1008
  case tooBig = 1009
  case internalError = 1011
  case restart = 1012
  case overloaded = 1013
  case notAuthenticated = 4401
  case forbidden = 4403
  case authenticationTimeout = 4408
  case abuse = 4429
}
