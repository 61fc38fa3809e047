import Synchronization

/// What the files and uploads of a relay amount to, for the limits and the metrics. Thread-safe.
package final class FileCounts: Sendable {
  struct Values {
    var storedBytes: Int64 = 0
    /// Uploads that are not complete.
    var uploads = 0
    /// Since the start.
    var filesStored = 0
    var bytesReceived: Int64 = 0
    var bytesServed: Int64 = 0
  }

  private let state = Mutex(Values())

  package init() {}

  var values: Values { state.withLock { $0 } }

  func add(storedBytes bytes: Int64) { state.withLock { $0.storedBytes += bytes } }
  func add(received bytes: Int) { state.withLock { $0.bytesReceived += Int64(bytes) } }
  func add(served bytes: Int) { state.withLock { $0.bytesServed += Int64(bytes) } }
  func addFile() { state.withLock { $0.filesStored += 1 } }
  func set(uploads: Int) { state.withLock { $0.uploads = uploads } }
}

extension FileCounts.Values {
  func add(to text: inout MetricsText) {
    text.gauge("relay_file_bytes", "Bytes of stored files, each content once.", Int(storedBytes))
    text.gauge("relay_uploads", "Uploads that are not complete.", uploads)
    text.counter("relay_files_uploaded_total", "Uploads that became files.", filesStored)
    text.counter(
      "relay_file_received_bytes_total", "Bytes of uploads that were written.", Int(bytesReceived))
    text.counter(
      "relay_file_served_bytes_total", "Bytes of files that were read.", Int(bytesServed))
  }
}
