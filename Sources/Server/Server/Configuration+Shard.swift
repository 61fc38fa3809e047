import Gateway
import Relay
internal import RelayConfiguration

extension Configuration {
  /// The configuration of the shards of one relay.
  var shard: Shard.Configuration {
    var shard = Shard.Configuration()
    shard.limits = limits.shard
    shard.server = "relay/\(Server.version)"
    shard.asksStrangers = rooms.requests == .yes || rooms.requests == .auto && auth.mode != .open
    if !auth.oidc.issuer.isEmpty { shard.commonIssuers.insert(auth.oidc.issuer) }
    if !auth.gitHub.organization.isEmpty { shard.commonIssuers.insert(auth.gitHub.baseURL) }
    shard.anyoneMayCreate = rooms.create == .anyone
    shard.listed = rooms.listed.map { ($0.room, $0.title) }
    shard.seen = people.seen ? SeenPeople() : nil
    shard.bots = bots.map { ($0.user, $0.name ?? $0.user) }
    shard.tailBytes = log.tailBytes
    shard.holds = delivery.hold
    shard.pacingMilliseconds = delivery.pacingMaxMilliseconds
    return shard
  }
}

extension Configuration.Limits {
  /// The limits of one connection.
  var connection: ConnectionLimits {
    var limits = ConnectionLimits()
    limits.handshakeTimeoutMilliseconds = handshakeTimeoutMilliseconds
    limits.headerBytes = headerBytes
    limits.headerLines = headerLines
    limits.frameBytes = shard.frameBytes
    limits.messageFragments = messageFragments
    limits.controlFramesPerSecond = controlFramesPerSecond
    limits.heartbeatSeconds = shard.heartbeatSeconds
    limits.idleTimeoutSeconds = idleTimeoutSeconds
    limits.connections = connections
    limits.connectionsPerAddress = connectionsPerAddress
    limits.unauthenticatedPerAddress = unauthenticatedPerAddress
    limits.unauthenticatedPerSecond = unauthenticatedPerSecond
    return limits
  }
}
