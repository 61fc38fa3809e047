public import EventLoop
internal import Client
internal import Platform

/// A load without checking: one thread that opens connections, publishes, and counts deliveries, at
/// so low a cost that it is never the bottleneck of a benchmark.
///
/// Confined to the thread that calls `play`; `stop` may be used from any thread.
public final class RawLoad {
  /// The plan.
  public let plan: Plan
  /// The number of other descriptors that the process has open.
  private static let otherDescriptors = 32
  /// Tokens of connections are their indices.
  private static let stopToken = UInt64.max
  private let loop: EventLoop
  private var engine: RawEngine

  /// Checks the plan and resolves the server's address.
  public init(_ plan: Plan) throws(Failure) {
    self.plan = plan
    let descriptors: Int
    do {
      descriptors = try DescriptorLimit.raise()
      loop = try EventLoop()
    } catch {
      throw Failure(description: "\(error)", isUsage: false)
    }
    engine = try RawEngine(plan, loop)
    guard engine.connections.count + Self.otherDescriptors <= descriptors else {
      throw Failure(
        description:
          "\(engine.connections.count) connections exceed the limit of \(descriptors) open"
          + " files: raise ulimit -n, or use fewer connections", isUsage: true)
    }
  }

  /// Plays the plan; blocks until it is done.
  ///
  /// - Parameter note: Called at each ``Moment``, on this thread.
  public func play(_ note: @escaping (Moment) -> Void = { _ in }) throws(Failure) -> RawResult {
    var binding: ProcessorBinding?
    if let processor = plan.processor {
      do {
        binding = try ProcessorBinding(processor)
      } catch {
        throw Failure(
          description: "the thread cannot be bound to processor \(processor): \(error);"
            + " use one that this process may run on", isUsage: true)
      }
    }
    defer { binding?.end() }
    engine.note = note
    engine.begin()
    loop.run(self)
    engine.end()
    if let failure = engine.failure { throw failure }
    return engine.result
  }

  /// Ends the load when the descriptor, such as a signal's pipe, becomes readable.
  func stops(on descriptor: Int32) throws(Failure) {
    do {
      _ = try loop.register(descriptor, for: .readable, token: Self.stopToken)
    } catch {
      throw Failure(description: "\(error)", isUsage: false)
    }
  }

  /// Ends ``Work/idle`` and any other work.
  public var stop: LoopControl { loop.control }
}

extension RawLoad: EventHandler {
  /// See `EventHandler`.
  public func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    if token == Self.stopToken { return loop.stop() }
    engine.ready(Int(token), readiness)
  }

  /// See `EventHandler`.
  public func timerFired(_ timer: TimerID, token: UInt64) { engine.timerFired(token) }

  /// See `EventHandler`.
  public func beforeSleep() { engine.flush() }
}
