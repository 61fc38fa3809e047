import Terminal

/// The sections of the list: what the user has to do with comes first, so that neither a busy room
/// that the user never joined nor a directory of thousands pushes it out of sight.
extension Chat {
  enum Section: Int, Comparable {
    case pinned
    /// Rooms that the user belongs to, and users with messages.
    case conversations
    /// What users have begun who are not known.
    case requests
    /// Rooms that the relay lists for everyone.
    case rooms
    /// The rest of the directory.
    case people

    static func < (a: Section, b: Section) -> Bool { a.rawValue < b.rawValue }
  }

  func section(of conversation: Conversation) -> Section {
    if conversation.isPinned { return .pinned }
    if conversation.isRequest { return .requests }
    if conversation.last != nil || conversation.head > 0, conversation.peer != nil {
      return .conversations
    }
    // Opening a direct room joins it, which is not yet a message.
    if conversation.peer != nil { return conversation.draft.isEmpty ? .people : .conversations }
    return conversation.isMember ? .conversations : .rooms
  }

  /// Finds where the sections of the unfiltered list begin, by index in `listed`.
  mutating func placeHeadings() {
    headings = [:]
    guard filter.isEmpty || !isFiltering else { return }
    var before: Section = .conversations
    for (index, room) in listed.enumerated() {
      guard let conversation = conversations[room] else { continue }
      let section = section(of: conversation)
      if section != before { headings[index] = section }
      before = section
      // Nothing follows this section.
      if section == .people { return }
    }
  }

  /// Returns the heading of a section, and the key that finds a conversation in it.
  func heading(of section: Section) -> (title: String, hint: String?) {
    switch section {
    case .pinned: ("Pinned", nil)
    case .conversations: ("Conversations", nil)
    case .requests: ("Requests", nil)
    case .rooms: (headings[0] == .rooms ? "Rooms" : "Other rooms", nil)
    case .people: ("People", label(.switcher).map { "\($0) finds" })
    }
  }

  // MARK: Scrolling

  /// Returns the screen rows of one row of the list, including the heading above it.
  private func listRows(of index: Int, in layout: Layout) -> Int {
    layout.rowHeight + (layout.hasHeadings && headings[index] != nil ? 1 : 0)
  }

  /// Returns the rows of the list that are visible from `listTop`, and where each is drawn.
  func visibleList(in layout: Layout) -> [(index: Int, heading: Int?, row: Int)] {
    var visible: [(index: Int, heading: Int?, row: Int)] = []
    var row = layout.listRows.row
    let end = row + layout.listRows.rows
    for index in listed.indices[min(max(0, listTop), max(0, listed.count - 1))...] {
      let rows = listRows(of: index, in: layout)
      guard row + rows <= end else { break }
      let isHeaded = rows > layout.rowHeight
      visible.append((index, isHeaded ? row : nil, isHeaded ? row + 1 : row))
      row += rows
    }
    return visible
  }

  /// Returns the first row to show, so that `index` is the last one that is visible.
  private func top(endingAt index: Int, in layout: Layout) -> Int {
    var top = index
    var rows = listRows(of: index, in: layout)
    while top > 0 {
      rows += listRows(of: top - 1, in: layout)
      if rows > layout.listRows.rows { break }
      top -= 1
    }
    return top
  }

  /// Scrolls the list as little as necessary to make its selection visible.
  public mutating func keepListSelectionVisible() {
    guard !listed.isEmpty else { return listTop = 0 }
    let layout = self.layout
    listTop = min(max(0, listTop), top(endingAt: listed.count - 1, in: layout))
    if isListScrolled { return }
    guard let room = listSelection ?? timeline?.room, let index = listed.firstIndex(of: room)
    else { return }
    listTop = min(max(listTop, top(endingAt: index, in: layout)), index)
  }

  // MARK: Its size

  mutating func toggleCompactList() {
    settings.list = settings.list == .compact ? .full : .compact
  }

  mutating func toggleSidebar() {
    settings.hasSidebar.toggle()
    if !settings.hasSidebar, pane == .list, timeline != nil { enter(.composer) }
  }
}
