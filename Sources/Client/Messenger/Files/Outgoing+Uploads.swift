public import Wire

/// Messages that wait for a file.
extension Chat.Outgoing {
  /// Creates a message of an earlier run whose file is not uploaded.
  /// - Parameters:
  ///   - continuing: The id under which the relay has a part of it.
  ///   - problem: Why the upload does not go on by itself.
  public init(
    send: ClientMessage.Send, at: Int64, file: ChosenFile, continuing: String?, problem: String?
  ) {
    self.init(send: send, at: at, refusal: problem)
    upload = Upload(file)
    upload?.continued = continuing
    upload?.isKept = true
  }

  /// Puts the uploads of an earlier run among its other messages, as they were sent. What was sent in a conversation after a file
  /// waits for it again.
  public static func merge(_ messages: [Self], with uploads: [Self]) -> [Self] {
    var merged = messages
    for upload in uploads {
      merged.insert(upload, at: merged.firstIndex { $0.at > upload.at } ?? merged.count)
    }
    var uploading: Set<String> = []
    for index in merged.indices {
      if merged[index].isUploading {
        uploading.insert(merged[index].send.room)
      } else if merged[index].send.kind.isContent, merged[index].refusal == nil {
        merged[index].isHeld = uploading.contains(merged[index].send.room)
      }
    }
    return merged
  }

  /// Whether the relay does not have the bytes of its file yet, and will get them.
  var isUploading: Bool { upload != nil && refusal == nil }
}
