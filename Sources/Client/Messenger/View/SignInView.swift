import Client
import Terminal

/// The overlay in which this device signs in again.
extension Chat {
  /// The columns of the text beside a QR code, and alone.
  private static let signInColumns = (beside: 30, alone: 56)

  func draw(signIn: SignIn, _ theme: Theme, _ drawing: inout Drawing) {
    // Without colours a code would be as light as the terminal's text.
    let qr = theme == .plain ? nil : signIn.qr
    let room = Size(
      columns: size.columns - Self.signInColumns.beside - 3, rows: size.rows - 2)
    let zone = qr?.quietZone(within: room)
    let code = zone.flatMap { qr?.size(quietZone: $0) } ?? Size(columns: 0, rows: 0)
    let columns = min(
      size.columns - 4,
      code.columns == 0 ? Self.signInColumns.alone : Self.signInColumns.beside)
    let lines = signInLines(signIn, hasQR: zone != nil, columns: max(8, columns - 2))
    let inner = panel(
      "Sign in", columns: columns + code.columns, rows: max(code.rows, lines.count), theme, &drawing
    )
    guard !inner.isEmpty else { return }
    for (row, line) in lines.prefix(inner.rows).enumerated() {
      let style =
        switch line.kind {
        case .text: theme.panelText
        case .faint: theme.faint
        case .important: theme.accent
        case .warning: theme.error
        }
      drawing.grid.write(
        line.text, at: Position(column: inner.column + 1, row: inner.row + row), style,
        columns: columns - 1)
    }
    if let qr, let zone {
      qr.draw(
        at: Position(column: inner.column + columns, row: inner.row), quietZone: zone,
        into: &drawing.grid)
    }
  }

  private struct SignInLine {
    enum Kind { case text, faint, important, warning }
    var text: String
    var kind: Kind
  }

  /// The text, wrapped.
  private func signInLines(_ signIn: SignIn, hasQR: Bool, columns: Int) -> [SignInLine] {
    var lines: [SignInLine] = []
    func add(_ text: String, _ kind: SignInLine.Kind) {
      lines += Wrapping.lines(of: ShownText.line(text), columns: columns)
        .map { SignInLine(text: String($0), kind: kind) }
    }
    func gap() { lines.append(SignInLine(text: "", kind: .text)) }
    switch signIn {
    case .starting: add("Asking the relay for a code…", .faint)
    case .ended(let reason):
      add(reason, .warning)
      gap()
      add("\(label(.choose, in: .overlay) ?? "/login"): ask for a new code", .text)
    case .code(let code, let problem):
      if code.isForeign {
        add("This link is not the relay's. Open it only if you expect it.", .warning)
        gap()
      }
      add("On a device with a browser, open", .faint)
      add(code.link, .text)
      add("and allow the code", .faint)
      gap()
      add(code.userCode, .important)
      if hasQR {
        gap()
        add("Or scan the QR code.", .faint)
      }
      if let problem {
        gap()
        add("The relay does not answer; it is asked again. (\(problem))", .warning)
      }
    }
    return lines
  }
}

extension Chat.SignIn {
  fileprivate var qr: QRCode? {
    guard case .code(let code, _) = self else { return nil }
    return QRCode(code.qr)
  }
}
