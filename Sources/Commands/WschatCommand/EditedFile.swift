import Glibc
import Platform

/// A text in a file for an editor: alone in a new folder, which only its owner can enter.
struct EditedFile {
  /// Why the text of an editor is not taken.
  struct Refusal: Error {
    var text: String
    /// Whether the file has something that is nowhere else.
    var keepsFile: Bool
  }

  private let folder: PrivateFolder
  let path: String
  private let text: String

  init(_ text: String) throws(SystemError) {
    self.text = text
    folder = try PrivateFolder()
    // The usual ending of texts for people: editors wrap and spell-check them.
    path = "\(folder.path)/message.txt"
    do throws(SystemError) {
      try WholeFile.write(Array(text.utf8), to: path, permissions: 0o600)
    } catch {
      remove()
      throw error
    }
  }

  func remove() { folder.remove() }

  /// Returns the text as the editor has left it.
  /// - Parameter limitBytes: What the composer takes.
  func text(
    after outcome: ChildProgram.Outcome, of editor: String, limitBytes: Int
  ) throws(Refusal) -> String {
    switch outcome {
    case .exit(0): break
    case .exit(127):
      throw Refusal(
        text: "The editor \(editor) was not found. Set $VISUAL or $EDITOR to your editor.",
        keepsFile: false)
    case .exit(126):
      throw Refusal(
        text: "The editor \(editor) cannot be run. Set $VISUAL or $EDITOR to your editor.",
        keepsFile: false)
    // A shell reports a signal in this way.
    case .exit(let code) where code > 128: throw ended(by: code - 128)
    case .exit(let code):
      throw Refusal(
        text: "The editor ended with exit code \(code); the text is unchanged.", keepsFile: false)
    case .signal(let number): throw ended(by: number)
    }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try WholeFile.read(path, limitBytes: limitBytes, waits: false)
    } catch {
      throw error.code == EFBIG
        ? Refusal(
          text: "The editor's text has more than \(limitBytes) bytes, the most that the composer "
            + "takes. The text is unchanged; the file is \(path).", keepsFile: true)
        : Refusal(
          text: "The editor's file cannot be read: \(error). The text is unchanged.",
          keepsFile: error.code != ENOENT)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Refusal(
        text: "The editor's file is not UTF-8. The text is unchanged; the file is \(path).",
        keepsFile: true)
    }
    return text
  }

  /// After a crash the file may have what was saved before.
  private func ended(by signal: Int32) -> Refusal {
    let saved = try? WholeFile.read(path, waits: false)
    let isSaved = saved != nil && saved != Array(text.utf8)
    let file = isSaved ? "; what it had saved is in \(path)" : ""
    return Refusal(
      text: "The editor was ended by signal \(signal)\(file). The text is unchanged.",
      keepsFile: isSaved)
  }
}
