import Client
import Wire

/// What is done with the files of messages.
extension Chat {
  /// The newest file of the conversation, which `/open`, `/save` and `/link` are about.
  private var newestFile: FileContent? {
    timeline?.messages.last { $0.seq != nil && $0.file != nil }?.file
  }

  /// Performs a command that is written.
  /// - Parameter path: Where the file is saved, as a person writes it for a shell.
  mutating func perform(
    onNewestFile command: Command, _ path: String = "", _ effects: inout [Effect]
  ) {
    guard let file = newestFile else { return complain("There is no file in what is loaded here.") }
    let words = ShellWords(path).words
    guard words.count < 2, !words.contains(where: \.isOpen) else {
      return complain("Write one path, such as /save 'annual report.pdf' or /save ~/papers/.")
    }
    clearComposer(&effects)
    act(command, on: file, to: words.first?.text, &effects)
  }

  mutating func act(
    _ command: Command, on file: FileContent, to path: String? = nil, _ effects: inout [Effect]
  ) {
    // The id goes into requests, and the relay is not trusted with more than its own files.
    guard RelayURL.isSegment(file.id) else {
      return complain("The relay names this file in a way that cannot be requested.")
    }
    switch command {
    case .openFile: effects.append(.openFile(file))
    case .saveFile: effects.append(.saveFile(file, to: path))
    case .copyLink:
      guard let address = try? RelayURL(relay).address(of: "v1/files/\(file.id)") else { return }
      effects.append(.copy(address))
    default: break
    }
  }
}
