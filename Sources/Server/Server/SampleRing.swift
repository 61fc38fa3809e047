import Gateway
import Platform
import Relay
import Synchronization
internal import Wire

/// The relay's figures over the last hour, for `GET /v1/samples`. Thread-safe.
final class SampleRing: Sendable {
  static let intervalMilliseconds: Int64 = 5000
  /// The samples of an hour; the oldest makes room for the next one.
  static let limit = 720

  private struct State {
    var samples: [Sample] = []
    /// The place of the next sample, once all are used.
    var next = 0
    /// What the next sample is compared with.
    var last: (metrics: Metrics, at: Instant)?
  }

  private let state = Mutex(State())

  /// Adds what has happened since the last call; the first one only begins.
  func append(_ metrics: Metrics, at: Instant = .now()) {
    state.withLock { state in
      defer { state.last = (metrics, at) }
      guard let last = state.last else { return }
      let seconds = Double(at.nanoseconds(since: last.at)) / 1e9
      guard seconds > 0 else { return }
      let sample = Sample(metrics, since: last.metrics, seconds: seconds)
      if state.samples.count < Self.limit {
        state.samples.append(sample)
      } else {
        state.samples[state.next] = sample
        state.next = (state.next + 1) % Self.limit
      }
    }
  }

  /// Returns the answer: the samples after a time in milliseconds since 1970, in order.
  func json(after time: Int64) -> [UInt8] {
    let samples = state.withLock { $0.samples[$0.next...] + $0.samples[..<$0.next] }
    var json = Array(
      "{\"interval_ms\":\(Self.intervalMilliseconds),\"limit\":\(Self.limit),\"samples\":[".utf8)
    for (place, sample) in samples.lazy.filter({ $0.at > time }).enumerated() {
      if place > 0 { json.append(UInt8(ascii: ",")) }
      sample.append(to: &json)
    }
    return json + Array("]}".utf8)
  }
}

/// What the relay was doing in one interval. The names in JSON are those of `relay top --json`.
private struct Sample {
  /// The end of the interval, in milliseconds since 1970.
  let at: Int64
  private let connections: Int
  private let lagging: Int
  private let queuedBytes: Int
  private let memoryBytes: Int
  private let freeBytes: Int?
  /// `nil` = the relay keeps no files.
  private let filesBytes: Int64?
  private let entriesPerSecond: Float
  private let deliveriesPerSecond: Float
  /// The median and the 99th percentile; `nil` if nothing was acknowledged.
  private let ackMilliseconds: (Float, Float)?
  /// The share of a core, by thread.
  private let threads: [(name: String, share: Float)]

  init(_ metrics: Metrics, since before: Metrics, seconds: Double) {
    func rate(_ count: (Metrics) -> Int) -> Float {
      Float(Double(max(0, count(metrics) - count(before))) / seconds)
    }
    at = metrics.now
    connections = metrics.admission.census.total
    lagging = metrics.loops.total(\.lagging)
    queuedBytes = metrics.loops.total(\.queuedBytes)
    memoryBytes = metrics.process.residentBytes
    freeBytes = metrics.log.freeBytes
    filesBytes = metrics.files?.storedBytes
    entriesPerSecond = rate(\.log.entries)
    deliveriesPerSecond = rate(\.loops.counters.deliveries)
    let acks = metrics.loops.counts.ackSeconds.cumulative(since: before.loops.counts.ackSeconds)
    if let half = BucketHistogram.quantile(0.5, of: acks),
      let most = BucketHistogram.quantile(0.99, of: acks)
    {
      ackMilliseconds = (Float(half * 1000), Float(most * 1000))
    } else {
      ackMilliseconds = nil
    }
    let former = Dictionary(before.process.threadSeconds, uniquingKeysWith: { $1 })
    threads = metrics.process.threadSeconds.map { name, total in
      (name, Float(max(0, total - (former[name] ?? 0)) / seconds))
    }
  }

  func append(to json: inout [UInt8]) {
    json += Array(
      """
      {"at":\(at),"connections":\(connections),"lagging_subscriptions":\(lagging),\
      "queued_bytes":\(queuedBytes),"memory_bytes":\(memoryBytes),\
      "entries_per_s":\(entriesPerSecond),"deliveries_per_s":\(deliveriesPerSecond)
      """.utf8)
    if let freeBytes { json += Array(",\"disk_free_bytes\":\(freeBytes)".utf8) }
    if let filesBytes { json += Array(",\"files_bytes\":\(filesBytes)".utf8) }
    if let (half, most) = ackMilliseconds {
      json += Array(",\"ack_ms\":{\"p50\":\(half),\"p99\":\(most)}".utf8)
    }
    json += Array(",\"cpu\":{".utf8)
    for (place, thread) in threads.enumerated() {
      if place > 0 { json.append(UInt8(ascii: ",")) }
      json.append(jsonString: thread.name)
      json += Array(":\(thread.share)".utf8)
    }
    json += Array("}}".utf8)
  }
}
