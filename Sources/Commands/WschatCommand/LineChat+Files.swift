import Client
import Wire

/// The files of `--attach`, which are sent before the first line.
extension LineChat {
  func attachFiles() {
    guard let room, let attachments, exitCode == nil else { return }
    attachments.begin(to: room, as: client.configuration) { [unowned self] in
      happened($0, in: room)
    }
  }

  private func happened(_ event: Attachments.Event, in room: String) {
    guard exitCode == nil else { return }
    switch event {
    case .progressed: recordProgress()
    case .waiting(let path, let reason): warn("\(path): \(reason); retrying")
    case .failed(let path, let reason): refuse(file: path, reason)
    case .uploaded(let path, let file):
      recordProgress()
      let content = FileContent(id: file, name: LocalFile.name(of: path))
      attached[client.send(content, to: room)] = path
    }
    attachFiles()
    readInput()
    finishIfDone()
  }

  /// Takes the answer to a file's message.
  /// - Returns: Whether it was that of one.
  func completeFile(_ id: String, _ error: WireError?) -> Bool {
    guard let path = attached.removeValue(forKey: id) else { return false }
    recordProgress()
    if let error { refuse(file: path, error.message) }
    return true
  }
}
