internal import Platform
internal import Relay

/// A picture as its host has it, and whose it is.
struct FetchedPicture: Sendable {
  var user: String
  var url: String
  var bytes: [UInt8]
}

/// Converts fetched pictures one after the other: each takes a process. Confined to a thread of its own, so that fetches go
/// on meanwhile; `AvatarFetcher` begins none beyond its limit until what it has fetched is converted.
struct AvatarConverter {
  let convert: AvatarCache.Conversion
  let pictures: WorkQueue<FetchedPicture>
  let orders: Mailbox<AvatarOrder>

  /// Works until the queue is closed; what is left then is not converted.
  func work(deliver: (_ user: String, _ url: String, Avatar?) -> Void) {
    while let batch = pictures.takeAll() {
      for picture in batch where !pictures.isEnding {
        deliver(picture.user, picture.url, convert(picture.bytes).map(Avatar.init))
        orders.post(.converted)
      }
    }
  }
}
