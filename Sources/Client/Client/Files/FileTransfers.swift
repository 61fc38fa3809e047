public import Platform
internal import TLS

/// The uploads and downloads of a program, each on a thread of its own while it is in progress.
///
/// They survive the loss of a connection: each goes on, from where it was, until it is whole, refused
/// or cancelled. Confined to one thread, as its user is: watch `descriptor`, and call `takeEvents` when
/// it is readable.
public final class FileTransfers {
  /// The identity of a transfer.
  public struct ID: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// What has become of a transfer. `uploaded`, `downloaded`, `failed` and `cancelled` are its last.
  public enum Event: Equatable, Sendable {
    /// This number of bytes has left this machine, or has arrived. At most once per `progressMilliseconds`.
    case progressed(ID, bytes: Int64, of: Int64)
    /// The connection was lost, for this reason, and another attempt follows.
    case waiting(ID, reason: String)
    /// The relay has the file under this id, for the next message that names it.
    case uploaded(ID, file: String)
    case downloaded(ID)
    /// It is refused, or a file of this machine cannot be read or written: why, as a sentence without
    /// a full stop, perhaps with text of the relay.
    case failed(ID, reason: String)
    case cancelled(ID)
  }

  /// The most transfers at a time; others wait for them.
  public static let concurrentLimit = 4
  public static let progressMilliseconds = 100
  /// How long nothing may arrive or leave before the connection counts as lost.
  public static let idleMilliseconds = 30_000

  private struct Waiting {
    var id: ID
    var start: (Cancellation) throws(SystemError) -> Void
  }

  private let events: Mailbox<Event>
  private var count = 0
  private var waiting: [Waiting] = []
  private var running: [ID: Cancellation] = [:]

  public init() throws(SystemError) { events = try Mailbox() }

  /// Ends the transfers. The relay keeps what it has of uploads for a day, so that they can go on.
  deinit { for cancellation in running.values { cancellation.leave() } }

  /// Readable when there are events.
  public var descriptor: Int32 { events.descriptor }

  /// Uploads a file of this machine. It is opened at once; what is written to it later is not sent.
  /// - Parameters:
  ///   - room: Where it will be sent.
  ///   - configuration: Of the client that will send it.
  ///   - earlier: The id of an earlier upload of the same file by the same user: what the relay has of it is not sent
  ///     again. If the relay has none, the upload begins anew.
  ///   - created: Called on a thread of the transfer with the id that the relay has given, before bytes are sent. A
  ///     program that writes it down goes on with the upload after its own end.
  public func upload(
    _ path: String, named name: String, to room: String, as configuration: Client.Configuration,
    continuing earlier: String? = nil, created: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SystemError) -> ID {
    let file = try OpenFile(path)
    let events = events
    return add { id, cancellation throws(SystemError) in
      let request = configuration.request(cancellation)
      _ = try WorkerThread(name: "upload") {
        let upload = FileUpload(
          name: name, room: room, sizeBytes: file.size, continuing: earlier)
        events.post(
          UploadRun(
            id: id, upload: upload, file: file, request: request,
            resource: { configuration.resource($0) }, created: created, events: events
          ).run())
      }
    }
  }

  /// Downloads a file of the relay to a path, where it replaces another file.
  /// - Parameters:
  ///   - file: Its id.
  ///   - limitBytes: The size that its entry names.
  public func download(
    _ file: String, to path: String, limitBytes: Int64, as configuration: Client.Configuration
  ) -> ID {
    let events = events
    return add { id, cancellation throws(SystemError) in
      let request = configuration.request(cancellation)
      let resource = configuration.resource("v1/files/\(file)")
      _ = try WorkerThread(name: "download") {
        events.post(
          DownloadRun(id: id, resource: resource, request: request, events: events)
            .run(to: path, limitBytes: limitBytes))
      }
    }
  }

  /// Gives a transfer up; `cancelled` follows, unless it has ended already. What the relay has of an
  /// upload is deleted there.
  public func cancel(_ id: ID) {
    if let place = waiting.firstIndex(where: { $0.id == id }) {
      waiting.remove(at: place)
      events.post(.cancelled(id))
    }
    running[id]?.cancel()
  }

  /// Returns what has happened since the last call, in order.
  public func takeEvents() -> [Event] {
    var news: [Event] = []
    events.drain(into: &news)
    for event in news {
      if let id = event.ended { running[id] = nil }
    }
    startWaiting()
    return news
  }

  private func add(_ start: @escaping (ID, Cancellation) throws(SystemError) -> Void) -> ID {
    count += 1
    let id = ID(number: count)
    waiting.append(
      Waiting(id: id) { cancellation throws(SystemError) in try start(id, cancellation) })
    startWaiting()
    return id
  }

  private func startWaiting() {
    while running.count < Self.concurrentLimit, !waiting.isEmpty {
      let next = waiting.removeFirst()
      do throws(SystemError) {
        let cancellation = try Cancellation()
        running[next.id] = cancellation
        try next.start(cancellation)
      } catch {
        events.post(.failed(next.id, reason: "\(error)"))
      }
    }
  }
}

extension FileTransfers.Event {
  /// The transfer that ends with it.
  fileprivate var ended: FileTransfers.ID? {
    switch self {
    case .progressed, .waiting: nil
    case .uploaded(let id, file: _), .downloaded(let id), .failed(let id, reason: _),
      .cancelled(let id):
      id
    }
  }
}

extension Client.Configuration {
  fileprivate func request(_ cancellation: Cancellation) -> RelayRequest {
    RelayRequest(
      url: url, trust: trust, token: token,
      patience: .idle(milliseconds: FileTransfers.idleMilliseconds), cancellation: cancellation)
  }

  /// Returns the resource for this user, who is named in the query if there is no token.
  package func resource(_ path: String) -> String {
    token == nil ? user.map { "\(path)?user=\($0)" } ?? path : path
  }
}
