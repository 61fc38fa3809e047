import Client

/// A request for a person's picture, to the relay of the conversation and to no other host: the
/// address that the directory has is the relay's business. Blocks, for a bounded time.
struct PictureRequest {
  /// What an answer may cost.
  static let answerLimitBytes = 1 << 20
  /// The same of a thumbnail: 640 by 640 pixels that are noise have 1.6 MB.
  static let thumbnailLimitBytes = 2 << 20

  var relay: RelayRequest
  var user: String?

  /// Returns the file; `nil` if there is none, or no connection, or the answer is not a PNG of at
  /// most `answerLimitBytes`.
  func picture(of person: String) -> [UInt8]? {
    png("v1/avatars/\(person)", limitBytes: Self.answerLimitBytes)
  }

  /// Returns the thumbnail of a file, in the same way.
  func thumbnail(of file: String) -> [UInt8]? {
    png("v1/files/\(file)/thumbnail", limitBytes: Self.thumbnailLimitBytes)
  }

  private func png(_ resource: String, limitBytes: Int) -> [UInt8]? {
    let query = relay.token == nil ? user.map { "?user=\($0)" } ?? "" : ""
    let answer = try? relay.send(
      "GET", "\(resource)\(query)", accepting: "image/png", limitBytes: limitBytes)
    guard let answer, answer.status == 200, answer.contentType.hasPrefix("image/png"),
      !answer.body.isEmpty
    else { return nil }
    return answer.body
  }
}
