import Client
internal import Glibc
import Platform
internal import TLS
import Wire

/// A client that uploads files, sends entries that name them, downloads them again, and deletes some of the entries: a
/// process of its own, which may be killed at any moment, and then goes on from its journal.
public final class FilePersona {
  static let room = "files"

  private enum Transfer { case upload, download }

  private let client: Int
  private let plan: FilePlan
  private let folder: String
  private let requests: FileRequests
  private let transfers: FileTransfers
  private let journal: FileJournal
  private var running: [FileTransfers.ID: (FilePlan.Upload, Transfer)] = [:]

  /// - Parameter folder: For its journal, and the files that it transfers.
  public init(_ client: Int, of plan: FilePlan, url: String, folder: String) throws {
    self.client = client
    self.plan = plan
    self.folder = folder
    requests = FileRequests(url: try RelayURL(inClear: url), user: "client-\(client)")
    transfers = try FileTransfers()
    journal = try FileJournal(Self.journal(of: client, in: folder))
  }

  static func journal(of client: Int, in folder: String) -> String { "\(folder)/\(client).journal" }

  /// Performs all uploads of the client. Throws if the relay has refused something, or served other bytes.
  public func run() throws {
    var left = plan.uploads.filter {
      $0.client == client && journal.uploads[$0.number]?.isFinished != true
    }[...]
    while !left.isEmpty || !running.isEmpty {
      while running.count < FileTransfers.concurrentLimit, let next = left.popFirst() {
        try begin(next)
      }
      var wanted = pollfd(fd: transfers.descriptor, events: Int16(POLLIN), revents: 0)
      unsafe poll(&wanted, 1, -1)
      for event in transfers.takeEvents() { try take(event) }
    }
  }

  private func path(of upload: FilePlan.Upload) -> String { "\(folder)/\(upload.number).bin" }

  private func begin(_ upload: FilePlan.Upload) throws {
    let known = journal.uploads[upload.number]
    if known?.isServed == true { return try finish(upload) }
    if let file = known?.file, known?.isUploaded == true { return try show(upload, file) }
    try WholeFile.write(upload.content, to: path(of: upload))
    let id = try transfers.upload(
      path(of: upload), named: "\(upload.number).bin", to: Self.room, as: requests.configuration,
      continuing: known?.file,
      created: { [journal = journal.writer] file in
        // Before bytes are sent: after a kill they are not sent again.
        try? journal.append(.created, upload.number, file)
      })
    running[id] = (upload, .upload)
  }

  private func take(_ event: FileTransfers.Event) throws {
    switch event {
    case .progressed, .waiting: break
    case .uploaded(let id, let file):
      guard let (upload, _) = running.removeValue(forKey: id) else { return }
      try journal.append(.uploaded, upload.number, file)
      try show(upload, file)
    case .downloaded(let id):
      guard let (upload, _) = running.removeValue(forKey: id) else { return }
      try check(upload)
    case .failed(let id, let reason):
      throw FileRequests.Failure("\(name(of: id)): \(reason)")
    case .cancelled(let id): throw FileRequests.Failure("\(name(of: id)): cancelled")
    }
  }

  private func name(of id: FileTransfers.ID) -> String {
    guard let (upload, transfer) = running[id] else { return "a transfer" }
    return "the \(transfer) of number \(upload.number), \(upload.bytes) bytes"
  }

  /// Sends the entry that names the file, and downloads it.
  private func show(_ upload: FilePlan.Upload, _ file: String) throws {
    let seq = try requests.send(
      #"{"id":"\#(upload.entry)","kind":"file","file":"\#(file)","name":"\#(upload.number).bin"}"#,
      to: Self.room)
    try journal.append(.acknowledged, upload.number, "\(seq)")
    try journal.readNews()
    let id = transfers.download(
      file, to: path(of: upload), limitBytes: Int64(upload.bytes), as: requests.configuration)
    running[id] = (upload, .download)
  }

  private func check(_ upload: FilePlan.Upload) throws {
    let content = try WholeFile.read(path(of: upload), limitBytes: upload.bytes)
    unsafe unlink(path(of: upload))
    guard content == upload.content else {
      throw FileRequests.Failure("number \(upload.number) was served with other bytes")
    }
    try journal.append(.served, upload.number)
    try finish(upload)
  }

  private func finish(_ upload: FilePlan.Upload) throws {
    if upload.isDeleted, let seq = journal.uploads[upload.number]?.seq {
      _ = try requests.send(
        #"{"id":"deletion-\#(upload.number)","kind":"delete","target":\#(seq)}"#, to: Self.room)
    }
    try journal.append(.finished, upload.number)
  }
}
