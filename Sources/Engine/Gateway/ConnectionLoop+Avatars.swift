import Mixing
import Relay
import WebSocket
import Wire

/// `GET /v1/avatars/{user}`: people's pictures, so that a browser asks nobody but the relay.
extension ConnectionLoop {
  func askForAvatar(
    of user: String, as identity: Identity, _ known: [String], _ exchange: HTTPExchange,
    _ index: Int
  ) {
    if let wait = context.budgets.take(
      .request, bytes: 0, from: identity.user, now: now.monotonic)
    {
      context.violations.note(.requestsPerSecond)
      return finish(index, Self.tooManyRequests(wait).response)
    }
    guard let url = shard.avatarURL(of: user) else { return answer(nil, index, exchange.serial) }
    // It may be there at once: by mail it comes when this turn is through in any case.
    world.fetchAvatar(of: user, from: url, connection: index, exchange: exchange.serial)
  }

  /// Answers with a picture, or that there is none.
  func answer(_ avatar: Picture?, _ index: Int, _ serial: UInt64) {
    guard let exchange = exchange(serial, at: index),
      case .avatar(let user, _, let known) = exchange.call.target
    else { return }
    guard let avatar else {
      let name = UserName.isValid(user) ? user : "that user"
      return finish(index, HTTPProblem(404, "There is no picture of \(name).").response)
    }
    let tag = "\"\(Self.digest(avatar.bytes))\""
    let isKnown = known.contains {
      $0 == "*" || $0.split(separator: ",").contains { $0.drop { $0 == " " } == tag }
    }
    var response =
      isKnown
      ? HTTPResponse(status: 304)
      : HTTPResponse(status: 200, contentType: avatar.contentType, body: avatar.bytes)
    response.add("ETag", tag)
    // Who may see people is for the relay to say, not for a cache in between.
    response.add("Cache-Control", "private, max-age=3600")
    // It comes from strangers: nothing in it is to run, whatever a browser takes it for.
    response.add("X-Content-Type-Options", "nosniff")
    response.add("Content-Security-Policy", "default-src 'none'; sandbox")
    finish(index, response)
  }

  /// Tells pictures apart, and is no secret.
  private static func digest(_ bytes: [UInt8]) -> String {
    String(FNV1a.hash(bytes.span), radix: 16)
  }
}
