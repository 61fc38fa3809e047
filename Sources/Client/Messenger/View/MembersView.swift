import Client
import Terminal
import Wire

/// The list of a room's members.
extension Chat {
  func draw(membersAt selected: String?, _ theme: Theme, _ drawing: inout Drawing) {
    guard let open else { return }
    let members = self.members
    let inner = panel(
      "Members of \(ShownText.line(open.title))", columns: 50,
      rows: min(max(1, members.count), max(1, size.rows - 6)), theme, &drawing)
    guard !inner.isEmpty else { return }
    if members.isEmpty {
      drawing.grid.write(
        fitting: open.isJoined
          ? "A room of more than 50 members lists none." : "They are known once you are connected.",
        at: Position(column: inner.column + 1, row: inner.row), theme.faint,
        columns: inner.columns - 2)
    }
    let place = members.firstIndex { $0.user == selected } ?? 0
    let top = Chat.top(of: place, rows: inner.rows)
    for (offset, member) in members.dropFirst(top).prefix(inner.rows).enumerated() {
      let row = inner.line(offset)
      choose(row, isSelected: top + offset == place, theme, &drawing) {
        draw(member, in: row, theme, &$0)
      }
      drawing.targets.append((row, .choice(top + offset)))
    }
  }

  private func draw(_ member: Member, in row: Rect, _ theme: Theme, _ grid: inout Grid) {
    let isOwn = member.user == user
    let presence =
      isOwn ? isLive ? .online : .offline : conversations[directRoom(with: member.user)]?.presence
    let (dot, style) = theme.dot(of: presence)
    grid.write(dot, at: Position(column: row.column + 1, row: row.row), style)
    let role = member.role == .member ? "" : member.role.rawValue
    let end = row.columns - 1 - role.count
    grid.write(role, at: Position(column: row.column + end, row: row.row), theme.accent)
    let name = ShownText.line(name(of: member.user))
    var column = 3
    column += grid.write(
      fitting: name, at: Position(column: row.column + column, row: row.row), theme.panelText,
      columns: end - 1 - column)
    let note = isOwn ? "you" : name == member.user ? "" : "@\(member.user)"
    guard !note.isEmpty, end - 1 - column > 6 else { return }
    grid.write(
      fitting: note, at: Position(column: row.column + column + 2, row: row.row), theme.faint,
      columns: end - 3 - column)
  }
}
