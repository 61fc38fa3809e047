import Client
import Platform

/// The files of `--attach`: uploaded one after the other, so that they are sent in their order.
final class Attachments {
  enum Event {
    /// The bytes are at the relay, and can be named by a message.
    case uploaded(path: String, file: String)
    case failed(path: String, reason: String)
    /// The connection was lost; it goes on by itself.
    case waiting(path: String, reason: String)
    case progressed
  }

  private let transfers: FileTransfers
  private var watch: Watch?
  private var paths: ArraySlice<String>
  private var isUploading = false
  private var happened: (Event) -> Void = { _ in }

  init(_ paths: [String], on dispatcher: Dispatcher) throws(SystemError) {
    self.paths = paths[...]
    transfers = try FileTransfers()
    watch = try Watch(transfers.descriptor, on: dispatcher) { [unowned self] _ in takeEvents() }
  }

  /// Whether a file is not uploaded yet.
  var isEmpty: Bool { paths.isEmpty }

  /// Uploads the first of the files that are left, unless it is being uploaded.
  func begin(
    to room: String, as configuration: Client.Configuration,
    _ happened: @escaping (Event) -> Void
  ) {
    self.happened = happened
    while !isUploading, let path = paths.first {
      do throws(SystemError) {
        let local = LocalFile.expanded(path)
        _ = try transfers.upload(
          local, named: LocalFile.name(of: local), to: room, as: configuration)
        isUploading = true
      } catch {
        paths.removeFirst()
        happened(.failed(path: path, reason: error.reason))
      }
    }
  }

  private func takeEvents() {
    for event in transfers.takeEvents() {
      guard let path = paths.first else { return }
      switch event {
      case .progressed: happened(.progressed)
      case .waiting(_, let reason): happened(.waiting(path: path, reason: reason))
      case .uploaded(_, let file):
        end()
        happened(.uploaded(path: path, file: file))
      case .failed(_, let reason):
        end()
        happened(.failed(path: path, reason: reason))
      case .cancelled, .downloaded: break
      }
    }
  }

  private func end() {
    isUploading = false
    paths.removeFirst()
  }
}
