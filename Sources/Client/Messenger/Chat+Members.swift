import Client
import Wire

/// The list of a room's members, and what the user may do with each.
extension Chat {
  /// A member of the open room.
  struct Member: Equatable {
    var user: String
    var role: Role
  }

  /// The members of the open room, by rank and name; none if they are not known.
  var members: [Member] {
    guard let open, open.peer == nil, var roles = open.membership.members else { return [] }
    // Those who have joined an open room since.
    for user in open.marks.keys where roles[user] == nil { roles[user] = .member }
    return roles.map { Member(user: $0.key, role: $0.value) }.sorted {
      let (a, b) = ($0, $1)
      if a.role.rank != b.role.rank { return a.role.rank > b.role.rank }
      return (name(of: a.user).lowercased(), a.user) < (name(of: b.user).lowercased(), b.user)
    }
  }

  mutating func openMembers() {
    guard let open, open.peer == nil else {
      return complain("Only rooms have members, topics and titles.")
    }
    overlay = .members(selected: members.first?.user)
  }

  /// Whether the user may act on another one with this role in the open room.
  private func mayAct(on role: Role) -> Bool {
    guard let own = open?.membership.role, own.rank >= Role.moderator.rank else { return false }
    return own == .owner || role.rank < own.rank
  }

  /// Whether the user may delete another user's message.
  func mayDelete(_ message: Message) -> Bool {
    mayAct(on: open?.membership.members?[message.from] ?? Role.none)
  }

  /// Returns what the user may do with a member, in the order of the hints.
  func actions(on member: Member) -> [Command] {
    guard member.user != user else { return [] }
    guard isLive, mayAct(on: member.role) else { return [.choose] }
    var actions: [Command] = [.choose]
    if member.role.rank < Role.moderator.rank { actions.append(.muteMember) }
    actions += [.removeMember, .banMember]
    guard open?.membership.role == .owner else { return actions }
    if member.role == .member || member.role == .moderator { actions.append(.raiseRole) }
    if member.role.rank >= Role.moderator.rank { actions.append(.lowerRole) }
    return actions
  }

  mutating func performInMembers(
    _ command: Command, _ selected: String?, _ effects: inout [Effect]
  ) {
    let members = self.members
    let index = members.firstIndex { $0.user == selected } ?? 0
    if let moved = Self.move(command, index, of: members.count) {
      return overlay = .members(selected: members[moved].user)
    }
    guard members.indices.contains(index) else { return }
    let member = members[index]
    guard actions(on: member).contains(command) else {
      switch command {
      case .muteMember, .removeMember, .banMember, .raiseRole, .lowerRole:
        complain(
          member.user == user
            ? "This is you: /leave leaves the room." : "Your role in this room does not allow it.")
      default: break
      }
      return
    }
    var change = MemberChange(user: member.user, role: .member)
    switch command {
    case .choose:
      overlay = nil
      return open(directRoom(with: member.user), &effects)
    case .muteMember:
      if member.role != .muted {
        change.role = .muted
        change.until = now + RoomCommand.muteMilliseconds
      }
    case .raiseRole: change.role = member.role == .moderator ? .owner : .moderator
    case .lowerRole: change.role = member.role == .owner ? .moderator : .member
    default:
      change.role = command == .banMember ? .banned : .none
      return overlay = .confirmChange(change)
    }
    ask(change, &effects)
  }

  mutating func ask(_ change: MemberChange, _ effects: inout [Effect]) {
    guard let room = timeline?.room else { return }
    ask(.init(room: room, request: .member(change)), &effects)
  }

  /// The keys for the selected member.
  func hints(onMember selected: String?) -> [(Command, String)] {
    let members = self.members
    guard let member = members.first(where: { $0.user == selected }) ?? members.first else {
      return []
    }
    return actions(on: member).map { command in
      let what =
        switch command {
        case .choose: "write"
        case .muteMember: member.role == .muted ? "unmute" : "mute"
        case .removeMember: "remove"
        case .banMember: "ban"
        case .raiseRole: member.role == .moderator ? "make owner" : "make moderator"
        default: member.role == .owner ? "make moderator" : "make member"
        }
      return (command, what)
    }
  }
}
