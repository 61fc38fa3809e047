import Gateway
import Relay
internal import RelayConfiguration

extension Configuration {
  /// The limits of edits and reactions per entry, for the log.
  var entryLimits: EntryLimits {
    EntryLimits(
      editsPerEntry: limits.editsPerEntry, reactionsPerEntry: limits.reactionsPerEntry)
  }

  /// The configuration of the shards.
  var shard: Shard.Configuration {
    var shard = Shard.Configuration()
    shard.limits.frameBytes = limits.frameBytes
    shard.limits.textBytes = limits.textBytes
    shard.limits.roomsPerConnection = limits.roomsPerConnection
    shard.limits.budget = limits.budget
    shard.limits.queueBytes = limits.queueBytes
    shard.limits.heartbeatSeconds = limits.heartbeatSeconds
    shard.server = "relay/\(Server.version)"
    shard.anyoneMayCreate = rooms.create == .anyone
    shard.listed = rooms.listed.map { ($0.room, $0.title) }
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
    limits.frameBytes = frameBytes
    limits.messageFragments = messageFragments
    limits.controlFramesPerSecond = controlFramesPerSecond
    limits.heartbeatSeconds = heartbeatSeconds
    limits.idleTimeoutSeconds = idleTimeoutSeconds
    limits.connections = connections
    limits.connectionsPerAddress = connectionsPerAddress
    limits.unauthenticatedPerAddress = unauthenticatedPerAddress
    return limits
  }

  /// The limits of one user.
  var budget: UserBudget.Limits {
    var budget = UserBudget.Limits()
    budget.connections = connectionsPerUser
    budget.sendsPerSecond = sendsPerSecond
    budget.burst = burst
    budget.requestsPerSecond = requestsPerSecond
    budget.bytesPerSecond = bytesPerSecond
    return budget
  }
}
