/// A line that is being written: a text editor whose line breaks become blanks.
@dynamicMemberLookup
public struct LineEditor: Equatable, Sendable {
  private var editor: TextEditor

  public init(_ text: String = "") {
    editor = TextEditor(text, keepsOneLine: true)
  }

  /// What an editor says of itself.
  public subscript<Value>(dynamicMember path: KeyPath<TextEditor, Value>) -> Value {
    editor[keyPath: path]
  }

  /// As the editor's; of what is too long nothing is taken.
  public mutating func insert(_ text: String) throws(TextEditor.Full) { try editor.insert(text) }

  /// As the editor's.
  public mutating func clear() { editor.clear() }

  /// As the editor's.
  public mutating func perform(_ command: Command) -> Bool { editor.perform(command) }
}

extension TextEditor {
  /// Does what a command says, if it is one of editing.
  /// - Parameter columns: where lines are wrapped, for moves up and down.
  /// - Returns: whether it did something.
  @discardableResult
  public mutating func perform(_ command: Command, wrappedAt columns: Int? = nil) -> Bool {
    let before = (place, byteCount, lines.count)
    switch command {
    // What does not fit is left out, and the text as it was.
    case .newLine where !keepsOneLine: try? newLine()
    case .yank: try? yank()
    case .lineUp where !keepsOneLine: moveUp(wrappedAt: columns)
    case .lineDown where !keepsOneLine: moveDown(wrappedAt: columns)
    case .left: moveLeft()
    case .right: moveRight()
    case .wordLeft: moveWordLeft()
    case .wordRight: moveWordRight()
    case .lineStart: moveToLineStart()
    case .lineEnd: moveToLineEnd()
    case .deleteBackward: deleteBackward()
    case .deleteForward: deleteForward()
    case .deleteWord: deleteWord()
    case .deleteToStart: deleteToLineStart()
    case .deleteToEnd: deleteToLineEnd()
    default: return false
    }
    return before != (place, byteCount, lines.count)
  }
}
