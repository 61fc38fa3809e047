import Archive
import Client
import Messenger
import Platform
import Terminal
import Wire

/// Files of this machine that are sent, and those of messages that are opened and saved.
final class FileDriver {
  /// The most that is downloaded for one message, whatever the relay says of its size.
  static let downloadLimitBytes: Int64 = 4 << 30

  private struct Download {
    enum Purpose { case open, save }

    var name: String
    var path: String
    var purpose: Purpose
    var sizeBytes: Int64
  }

  private struct Waiting {
    var file: ChosenFile
    var id: String
    var room: String
    var continued: String?
  }

  /// The relay's id of an upload, and that of its message.
  private struct Begun {
    var id: String
    var file: String
  }

  private let client: Client
  private let store: ArchiveDriver
  private let host: ChatHost
  private let transfers: FileTransfers
  private var watch: Watch?
  /// Posted by the threads of the transfers.
  private let begun: Mailbox<Begun>
  private var begunWatch: Watch?
  /// By the ids of their messages.
  private var uploads: [String: FileTransfers.ID] = [:]
  /// Those that begin once the relay has confirmed the user: the files of one user must not be another's.
  private var waiting: [Waiting] = []
  private var isAuthenticated = false
  private var downloads: [FileTransfers.ID: Download] = [:]
  /// Where files are that were opened, until the program ends.
  private var folder: PrivateFolder?
  private var opened = 0

  init(_ client: Client, _ store: ArchiveDriver, _ host: ChatHost) throws(SystemError) {
    (self.client, self.store, self.host) = (client, store, host)
    transfers = try FileTransfers()
    begun = try Mailbox()
    begunWatch = try Watch(begun.descriptor, on: host.dispatcher) { [unowned self] _ in takeBegun()
    }
    watch = try Watch(transfers.descriptor, on: host.dispatcher) { [unowned self] _ in takeEvents()
    }
  }

  /// The relay has confirmed the user.
  func begin() {
    isAuthenticated = true
    let next = waiting
    waiting = []
    for upload in next {
      self.upload(upload.file, id: upload.id, room: upload.room, continuing: upload.continued)
    }
  }

  /// Gives up what belongs to another user.
  func reset() {
    isAuthenticated = false
    waiting = []
    for id in uploads.values { transfers.cancel(id) }
    uploads = [:]
  }

  func end() { folder?.remove() }

  // MARK: Files of this machine

  func find(_ choice: FileChoice) {
    var files: [ChosenFile] = []
    for path in choice.paths {
      do throws(SystemError) {
        files.append(
          ChosenFile(
            path: path, name: LocalFile.name(of: path),
            sizeBytes: try LocalFile.facts(of: LocalFile.expanded(path)).sizeBytes))
      } catch {
        let problem = "\(TerminalText.line(path)) cannot be sent: \(error.reason)."
        return host.post(.filesFound(choice, [], problem: problem))
      }
    }
    host.post(.filesFound(choice, files, problem: nil))
  }

  func findPaths(_ text: String) { host.post(.pathsFound(for: text, LocalFile.paths(for: text))) }

  func upload(_ file: ChosenFile, id: String, room: String, continuing continued: String?) {
    guard isAuthenticated else {
      return waiting.append(.init(file: file, id: id, room: room, continued: continued))
    }
    do throws(SystemError) {
      uploads[id] = try transfers.upload(
        LocalFile.expanded(file.path), named: file.name, to: room, as: client.configuration,
        continuing: continued
      ) { [begun] in begun.post(Begun(id: id, file: $0)) }
    } catch {
      host.post(.upload(id: id, .failed("\(file.path): \(error.reason)")))
    }
  }

  func cancel(_ id: String) {
    waiting.removeAll { $0.id == id }
    if let upload = uploads.removeValue(forKey: id) { transfers.cancel(upload) }
    store.use { archive throws(ArchiveError) in try archive.end(upload: id) }
  }

  // MARK: Uploads that outlive the program

  /// Stores a message that waits for its file.
  func keep(_ file: ChosenFile, _ content: FileContent, id: String, room: String, at: Int64) {
    let path = LocalFile.expanded(file.path)
    guard let facts = try? LocalFile.facts(of: path), let absolute = try? LocalFile.absolute(path)
    else { return }
    let isKept = store.use { archive throws(ArchiveError) in
      try archive.keep(
        .init(
          room: room, id: id, content: content, at: at, path: absolute,
          sizeBytes: facts.sizeBytes, modifiedAt: facts.modifiedAt))
    }
    if isKept { host.post(.upload(id: id, .kept)) }
  }

  private func takeBegun() {
    var news: [Begun] = []
    begun.drain(into: &news)
    store.use { archive throws(ArchiveError) in
      for upload in news { try archive.begin(upload: upload.id, as: upload.file) }
    }
  }

  /// Returns the messages of an earlier run whose files are not uploaded.
  func restore(_ archive: Archive) throws(ArchiveError) -> [Chat.Outgoing] {
    try archive.takeUploads().map { upload in
      let facts = try? LocalFile.facts(of: upload.path)
      let kept = LocalFile.Facts(sizeBytes: upload.sizeBytes, modifiedAt: upload.modifiedAt)
      var problem: String?
      if facts == nil {
        problem = "\(LocalFile.shown(upload.path)) cannot be read any more."
      } else if facts != kept {
        problem = "The file has changed since you sent it. Sent again, it is sent as it is now."
      }
      return .init(
        send: .init(room: upload.room, id: upload.id, file: upload.content), at: upload.at,
        file: ChosenFile(
          path: upload.path, name: upload.content.name,
          sizeBytes: facts?.sizeBytes ?? upload.sizeBytes),
        continuing: upload.file, problem: problem)
    }
  }

  // MARK: Files of messages

  func open(_ file: FileContent) {
    let name = LocalFile.keptName(file.name)
    do throws(SystemError) {
      if folder == nil { folder = try PrivateFolder() }
      opened += 1
      let place = "\(folder?.path ?? "")/\(opened)"
      try PrivateFiles.createFolder(place)
      download(file, to: "\(place)/\(name)", as: name, .open)
    } catch {
      host.post(.failed("\(name) was not opened: \(error)."))
    }
  }

  func save(_ file: FileContent, to path: String?) {
    let name = LocalFile.keptName(file.name)
    do throws(LocalFile.NotSaved) {
      download(file, to: try LocalFile.reserve(name, at: path), as: name, .save)
    } catch {
      host.post(.failed("\(name) was not saved: \(error)."))
    }
  }

  private func download(
    _ file: FileContent, to path: String, as name: String, _ purpose: Download.Purpose
  ) {
    let size = min(file.description?.size ?? Self.downloadLimitBytes, Self.downloadLimitBytes)
    let id = transfers.download(
      file.id, to: path, limitBytes: size, as: client.configuration)
    downloads[id] = Download(name: name, path: path, purpose: purpose, sizeBytes: size)
    host.post(.done("Downloading \(name)…"))
  }

  /// Opens a file that was downloaded.
  func openCopy(at path: String, _ name: String) {
    guard Launcher.has("xdg-open") else {
      return host.post(.failed("xdg-open is not installed; /save keeps \(name) as a file."))
    }
    if let error = Launcher.open(["xdg-open", path]) {
      return host.post(.failed("\(name) was not opened: \(error). /save keeps it as a file."))
    }
    host.post(.done("Opened \(name)"))
  }

  // MARK: How they go on

  private func takeEvents() {
    for event in transfers.takeEvents() {
      switch event {
      case .progressed(let id, let bytes, _):
        post(.progressed(bytes: bytes), of: id)
        if let download = downloads[id] {
          let progress = FileSize.progress(bytes, of: download.sizeBytes)
          host.post(.done("Downloading \(download.name): \(progress)"))
        }
      case .waiting(let id, let reason):
        post(.waiting(reason), of: id)
        if let download = downloads[id] {
          host.post(.done("Downloading \(download.name): \(reason); retrying"))
        }
      case .uploaded(let id, let file): post(.uploaded(file: file), of: id, isLast: true)
      case .downloaded(let id):
        if let download = downloads.removeValue(forKey: id) { finish(download) }
      case .failed(let id, let reason):
        post(.failed(reason), of: id, isLast: true)
        if let download = downloads.removeValue(forKey: id) { fail(download, reason) }
      case .cancelled: break
      }
    }
  }

  private func post(_ news: Upload.News, of upload: FileTransfers.ID, isLast: Bool = false) {
    guard let id = uploads.first(where: { $0.value == upload })?.key else { return }
    if isLast { uploads[id] = nil }
    host.post(.upload(id: id, news))
  }

  private func finish(_ download: Download) {
    switch download.purpose {
    case .save: host.post(.done("Saved as \(LocalFile.shown(download.path))"))
    case .open where RunnableFile.isOne(download.path):
      host.post(.programFound(name: download.name, path: download.path))
    case .open: openCopy(at: download.path, download.name)
    }
  }

  private func fail(_ download: Download, _ reason: String) {
    LocalFile.remove(download.path)
    let what = download.purpose == .save ? "saved" : "opened"
    host.post(.failed("\(download.name) was not \(what): \(reason)."))
  }
}
