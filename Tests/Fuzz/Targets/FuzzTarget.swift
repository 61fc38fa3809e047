/// A parser that is fed any input of a fuzzer, and the properties that must hold.
///
/// No input may trap; the properties are what a crash would not show. Each target has one
/// folder of `Tests/Fuzz/corpus`, named by its raw value.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// Frames, either role: limits hold, and what was read is written and read again.
  case frames
  /// Frames in one piece, in random pieces and byte by byte read the same.
  case framesCut = "frames-cut"
  /// Frames with compressed messages, as both of the above.
  case framesDeflate = "frames-deflate"
  /// The inflating of one message after the other, and the deflating of any bytes.
  case deflate
  /// Text that comes in pieces, against the standard library's own reading of UTF-8.
  case utf8
  /// The head of an HTTP request.
  case request
  /// The server's answer to an opening handshake, as a client reads it.
  case handshakeServer = "handshake-server"
  /// The client's reading of an answer to its opening handshake.
  case handshakeClient = "handshake-client"
  /// JSON from a client.
  case wireClient = "wire-client"
  /// JSON from the relay, and entries by themselves.
  case wireServer = "wire-server"
  /// The rooms and the last id of an event stream.
  case stream
  /// A batch of requests.
  case batch
  /// The header of the PROXY protocol.
  case proxyHeader = "proxy-header"
  /// The headers of requests about files.
  case fileRequest = "file-request"
  /// What an uploaded file is, how long it lasts, and what relay-media says of it.
  case media
  /// A picture of a person.
  case png
  /// The export of another chat.
  case imports
  /// A configuration file.
  case configuration
  /// Actions of clients on the relay itself: its shards, sequencer and a store.
  case relay

  /// Feeds the parser.
  ///
  /// The first bytes of the input are choices (role, limits, cuts), the rest is what the parser
  /// is fed; see the target's file. Can be called on any thread; no state is kept.
  /// - Throws: the property that does not hold.
  public func check(_ input: [UInt8]) throws(FuzzFinding) {
    var choices = FuzzInput(input)
    switch self {
    case .frames: try FrameTargets.checkFrames(&choices)
    case .framesCut: try FrameTargets.checkCuts(&choices)
    case .framesDeflate: try FrameTargets.checkDeflate(&choices)
    case .deflate: try DeflateTarget.check(&choices)
    case .utf8: try UTF8Target.check(&choices)
    case .request: try HandshakeTargets.checkRequest(&choices)
    case .handshakeServer: try HandshakeTargets.checkServer(&choices)
    case .handshakeClient: try HandshakeTargets.checkClient(&choices)
    case .wireClient: try WireTargets.checkClient(&choices)
    case .wireServer: try WireTargets.checkServer(&choices)
    case .stream: try HTTPTargets.checkStream(choices.rest)
    case .batch: try HTTPTargets.checkBatch(choices.rest)
    case .proxyHeader: try ProxyHeaderTarget.check(choices.rest)
    case .fileRequest: try FileRequestTarget.check(&choices)
    case .media: try MediaTarget.check(&choices)
    case .png: try PNGTarget.check(&choices)
    case .imports: try ImportTarget.check(&choices)
    case .relay: try RelayTarget.check(choices)
    case .configuration: try ConfigurationTarget.check(choices.rest)
    }
  }
}

/// A property that does not hold.
public struct FuzzFinding: Error, CustomStringConvertible {
  /// The observation, as a sentence without its end.
  public let description: String
}

/// Throws unless the property holds.
func expect(_ holds: Bool, _ found: @autoclosure () -> String) throws(FuzzFinding) {
  if !holds { throw FuzzFinding(description: found()) }
}
