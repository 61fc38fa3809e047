/// A single-line text editor, in which line breaks become spaces.
@dynamicMemberLookup
public struct LineEditor: Equatable, Sendable {
  private var editor: TextEditor

  public init(_ text: String = "") {
    editor = TextEditor(text, keepsOneLine: true)
  }

  /// Forwards the editor's properties.
  public subscript<Value>(dynamicMember path: KeyPath<TextEditor, Value>) -> Value {
    editor[keyPath: path]
  }

  /// See `TextEditor.insert`; a text that is too long is not inserted at all.
  public mutating func insert(_ text: String) throws(TextEditor.Full) { try editor.insert(text) }

  /// See `TextEditor.clear`.
  public mutating func clear() { editor.clear() }

  /// See `TextEditor.perform`.
  public mutating func perform(_ command: Command) -> Bool { editor.perform(command) }
}

extension TextEditor {
  /// Executes an editing command.
  /// - Parameter columns: The width at which lines are wrapped, for moves up and down.
  /// - Returns: Whether it changed something.
  @discardableResult
  public mutating func perform(_ command: Command, wrappedAt columns: Int? = nil) -> Bool {
    let before = (place, byteCount, lines.count)
    switch command {
    // A text that does not fit is not inserted.
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
