import TestSupport
import WebSocket

/// One case of RecordedCases.txt.
struct RecordedCase {
  /// How the suite's bytes are cut.
  enum Cut: CaseIterable {
    case asTheyWereWritten, inOnePiece, byteByByte
  }

  /// Why the record cannot be read.
  struct Malformed: Error {
    var what: String
  }

  let id: String
  /// The role of our end.
  let role: Role
  /// The bytes that the suite wrote.
  var sent: [[UInt8]] = []
  /// The frames that it got, as `text 48656c6c6f`; a close has its code only, since our reason
  /// phrases may change.
  var answers: [Substring] = []

  // MARK: Playing

  /// Plays an echo's end of the connection, and returns what the suite would get.
  func replay(_ cut: Cut) -> [Substring] {
    let stream = sent.flatMap { $0 }
    let pieces =
      switch cut {
      case .asTheyWereWritten: sent
      case .inOnePiece: [stream]
      case .byteByByte: stream.map { [$0] }
      }
    var peer = Connection(role: role == .server ? .client : .server, limits: .none)
    let outcome = peer.receive(echo(pieces))
    if let violation = outcome.violation { return ["our own answer is wrong: \(violation)"] }
    return outcome.received.map(Self.answer)
  }

  private func echo(_ pieces: [[UInt8]]) -> [UInt8] {
    var connection = Connection(role: role, limits: .none)
    var output: [UInt8] = []
    do throws(ProtocolViolation) {
      for piece in pieces {
        var buffer = piece
        var offset = 0
        while true {
          var input = buffer.mutableSpan
          let event = try connection.next(
            in: &input, at: &offset, output: &output, maskKey: { 0x5EED_5EED })
          guard let event else { break }
          guard case .message(let opcode, let payload) = event else { continue }
          let message =
            switch payload {
            case .input(let range): Array(buffer[range])
            case .assembled: connection.assembled
            }
          connection.appendMessage(opcode, message.span, to: &output, maskKey: 0x5EED_5EED)
        }
      }
    } catch {
      connection.close(
        error.closeCode, reason: "\(error)", to: &output, maskKey: 0x5EED_5EED)
    }
    return output
  }

  private static func answer(_ received: Received) -> Substring {
    switch received {
    case .text(let text): line("text", Array(text.utf8))
    case .binary(let bytes): line("binary", bytes)
    case .ping(let payload): line("ping", payload)
    case .pong(let payload): line("pong", payload)
    case .close(.noStatus, _): "close"
    case .close(let code, _): "close \(code.rawValue)"
    }
  }

  private static func line(_ word: Substring, _ bytes: [UInt8]) -> Substring {
    let digits = Array("0123456789abcdef")
    let hex = String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    return hex.isEmpty ? word : "\(word) \(hex)"
  }

  // MARK: Reading

  /// All cases of the record.
  static func all() throws -> [RecordedCase] {
    var cases: [RecordedCase] = []
    let text = try readFile(Project["Tests/WebSocketTests/RecordedCases.txt"])
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      switch words[0] {
      case "case" where words.count == 3:
        let role: Role = words[2] == "client" ? .client : .server
        cases.append(RecordedCase(id: String(words[1]), role: role))
      case "<" where !cases.isEmpty: cases[cases.count - 1].sent = try words.dropFirst().map(bytes)
      case ">" where !cases.isEmpty: cases[cases.count - 1].answers.append(line.dropFirst(2))
      default: throw Malformed(what: String(line))
      }
    }
    return cases
  }

  private static func bytes(_ hex: Substring) throws -> [UInt8] {
    let digits = try hex.map { digit in
      guard let value = digit.hexDigitValue else { throw Malformed(what: String(hex)) }
      return UInt8(value)
    }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
