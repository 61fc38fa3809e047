import Mixing
import Relay
import WebSocket
import Wire

/// `GET /v1/avatars/{user}`: serves users' pictures, so that a browser contacts only the relay.
extension HTTPExchange {
  func askForAvatar(of user: String) {
    if let identity = call.identity, let problem = loop.charge(requests: 1, to: identity.user) {
      return finish(problem.response)
    }
    guard let url = loop.shard.avatarURL(of: user) else { return take(nil) }
    // Even a picture that is cached comes as a `LoopMessage`, after this turn.
    loop.world.fetchAvatar(of: user, from: url, for: id)
  }

  /// Answers with a picture, or with 404 if there is none.
  func take(_ avatar: Avatar?) {
    guard case .avatar(let user, let known) = call.target else { return }
    guard let avatar else {
      let name = UserName.isValid(user) ? user : "This user"
      return finish(
        HTTPProblem(404, "\(name) has no picture.", code: .noSuchEntry).response)
    }
    let tag = "\"\(Self.digest(avatar.bytes))\""
    var response =
      EntityTag.isNamed(tag, in: known)
      ? HTTPResponse(status: 304)
      : HTTPResponse(status: 200, contentType: "image/png", body: avatar.bytes)
    response.add("ETag", tag)
    // The relay decides which users may see a picture, not a shared cache.
    response.add("Cache-Control", "private, max-age=3600")
    // What the picture was made of comes from an untrusted source: a browser must not run anything in it.
    response.add("Content-Security-Policy", "default-src 'none'; sandbox")
    finish(response)
  }

  /// Returns a hash that distinguishes pictures; it need not be secure.
  private static func digest(_ bytes: [UInt8]) -> String {
    String(FNV1a.hash(bytes.span), radix: 16)
  }
}
