internal import Glibc
internal import Platform
internal import Postgres

extension Registration {
  private static let pauseMilliseconds = 500
  private static let lookMilliseconds: UInt32 = 50

  /// Registers a node. As long as that fails for a reason that may pass, such as a server that is still
  /// starting, it is repeated, for a bounded time: so the order in which machines or containers start
  /// does not matter.
  /// - Parameters:
  ///   - report: receives each reason, once until it changes.
  ///   - isCancelled: asked several times a second.
  static func waiting(
    _ connector: Connector, _ options: PostgresLog.Options, report: (String) -> Void,
    isCancelled: () -> Bool
  ) throws(PostgresError) -> sending Registration {
    let end = Instant.now().nanoseconds + UInt64(max(0, options.waitSeconds)) * 1_000_000_000
    var reported = ""
    while true {
      let failure: PostgresError
      do throws(PostgresError) {
        return try Registration(connector, options)
      } catch {
        failure = error
      }
      guard failure.isTransient, Instant.now().nanoseconds < end else { throw failure }
      if reported != failure.description {
        reported = failure.description
        report(
          "The relay waits for PostgreSQL, for at most \(options.waitSeconds) s: \(failure).")
      }
      for _ in 0..<Self.pauseMilliseconds / Int(Self.lookMilliseconds) {
        if isCancelled() { throw failure }
        usleep(Self.lookMilliseconds * 1000)
      }
    }
  }
}
