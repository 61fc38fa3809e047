import ArgumentParser
import Platform
import Relay
import Server
internal import Wire

/// The subcommand `rooms`: lists the rooms of a relay, gives one an owner, or deletes one.
struct ListRooms: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rooms",
    abstract: "List the rooms, give one an owner, or delete one.",
    discussion: """
      The list is read from the store, whether or not a relay runs: name, members, entries, their \
      size, and the time of the last one. --owner and --delete are carried out by the running relay, \
      and are entries of the room sys:audit. A deleted room has no entries and no members; its name \
      is not free.
      """)

  @Option(help: ArgumentHelp("Only this room.", valueName: "r"))
  var room: String?

  @Option(help: ArgumentHelp("Make a user an owner of --room.", valueName: "u"))
  var owner: String?

  @Option(help: ArgumentHelp("Delete the entries and the members of a room.", valueName: "r"))
  var delete: String?

  @OptionGroup var relay: RunningRelay

  func validate() throws {
    guard owner == nil || delete == nil else { throw ValidationError("Only one change at a time.") }
    guard owner == nil || room != nil else { throw ValidationError("--owner needs --room.") }
  }

  func run() throws {
    let configuration = try relay.load()
    if let delete { return try relay.perform(.deleteRoom(room: delete), configuration) }
    if let owner, let room {
      let id = "owner-\(WallClock.milliseconds)"
      let member = MemberChange(user: owner, role: .owner)
      return try relay.perform(
        .send(ClientMessage.Send(room: room, id: id, member: member)), configuration)
    }
    let rooms = try StoreOptions.explaining { try StorePlace(configuration).rooms() }
    for listed in rooms where room == nil || room == listed.name {
      let last = listed.lastAt.map { Ban.date($0) } ?? "none"
      StandardOutput.write(
        "\(listed.name)\t\(listed.members) \(listed.members == 1 ? "member" : "members")\t"
          + "\(listed.entries) \(listed.entries == 1 ? "entry" : "entries")\t"
          + "\(listed.bytes) bytes\tlast \(last)\n")
    }
  }
}
