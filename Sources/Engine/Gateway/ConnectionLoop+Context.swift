package import Relay

extension ConnectionLoop {
  /// The configuration and state that all loops share.
  package struct Context: Sendable {
    package var limits: ConnectionLimits
    package var shard: Shard.Configuration
    package var router: RequestRouter
    package var authenticator: Authenticator
    package var admission: Admission
    package var violations: Violations
    /// Bounds the lines in the operator's log.
    package var lineQuota: LineQuota
    /// Rate limits by user, over all loops.
    package var budgets: Budgets<String>
    /// Rate limits by address, for what is not authenticated.
    package var addressBudgets: Budgets<HostKey>
    /// Rate limits by address, for HTTP requests that are answered 401: an address may guess no more often
    /// than a user may ask.
    package var guessBudgets: Budgets<HostKey>
    /// Rate limits by address, for public answers: the files of the web page, and the checks of the
    /// relay's health.
    package var fileBudgets: Budgets<HostKey>
    /// Finds the clients of trusted proxies.
    package var proxies = ProxyChain()
    /// `nil` = the relay keeps no files.
    package var files: FileSettings?
    package var canary: Canary
    /// The name of the log's current epoch.
    package var epoch: String
    /// The number of loops.
    package var loopCount: Int
    /// Shorter messages are not compressed.
    package var compressesFromBytes: Int
    /// The maximum duration of a shutdown.
    package var drainSeconds: Int
    /// The interval of the samples of `GET /v1/samples`; 0 = none are taken.
    package var sampleMilliseconds: Int64 = 0

    package init(
      limits: ConnectionLimits, shard: Shard.Configuration, router: RequestRouter,
      authenticator: Authenticator, admission: Admission, epoch: String,
      budgets: Budgets<String>? = nil, loopCount: Int, compressesFromBytes: Int, drainSeconds: Int
    ) {
      self.limits = limits
      self.shard = shard
      self.router = router
      self.authenticator = authenticator
      self.admission = admission
      violations = Violations()
      lineQuota = LineQuota()
      self.budgets = budgets ?? Budgets(shard.limits.budget)
      addressBudgets = Budgets(.requests(perSecond: limits.unauthenticatedPerSecond))
      guessBudgets = Budgets(.requests(perSecond: shard.limits.budget.requestsPerSecond))
      fileBudgets = Budgets(.requests(perSecond: WebFiles.requestsPerSecond))
      canary = Canary()
      self.epoch = epoch
      self.loopCount = loopCount
      self.compressesFromBytes = compressesFromBytes
      self.drainSeconds = drainSeconds
    }
  }
}
