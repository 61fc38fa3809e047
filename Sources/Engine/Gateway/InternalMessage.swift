import WebSocket
package import Wire

/// A message from the shard to an internal session: a bot, an HTTP exchange, or the canary.
package struct InternalMessage: Sendable {
  /// The message as a WebSocket would carry it.
  package let json: [UInt8]

  package init(json: [UInt8]) { self.json = json }

  /// The decoded message; `nil` if a client could not read it, either.
  package var value: ServerMessage? { try? ServerMessage(decoding: json.span) }

  /// Returns the messages in the output of an internal session. Its frames are those of
  /// `Framing.webSocket`: unmasked, uncompressed, unfragmented and complete.
  static func all(in frames: Span<UInt8>) -> [InternalMessage] {
    var messages: [InternalMessage] = []
    var offset = 0
    while let header = try? FrameHeader.read(
      frames.extracting(offset...), as: .client, payloadLimitBytes: 0)
    {
      let start = offset + header.headerLength
      offset = start + header.payloadLength
      messages.append(InternalMessage(json: frames.extracting(start..<offset).copy))
    }
    return messages
  }
}
