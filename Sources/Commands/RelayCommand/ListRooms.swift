import ArgumentParser
import Platform
import Relay
import Server
internal import Wire

/// The subcommand `rooms`: lists the rooms of a relay, or changes one.
struct ListRooms: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rooms",
    abstract: "List the rooms, give one an owner, make one read-only, delete one or an entry.",
    discussion: """
      The list is read from the store, whether or not a relay runs: name, members, entries, their \
      size, and the time of the last one. Changes are carried out by the running relay, \
      and are entries of the room sys:audit. A deleted room has no entries and no members; its name \
      is not free.
      """)

  @Option(parsing: .unconditional, help: ArgumentHelp("Only this room.", valueName: "r"))
  var room: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Make a user an owner of --room.", valueName: "u"))
  var owner: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Delete the entries and the members of a room.", valueName: "r"))
  var delete: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Let only owners and moderators write to a room.", valueName: "r"))
  var readOnly: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Let all members write to a room again.", valueName: "r"))
  var writable: String?

  @Option(help: ArgumentHelp("Delete the entry with this number of --room.", valueName: "seq"))
  var deleteEntry: Int64?

  @OptionGroup var relay: RunningRelay

  func validate() throws {
    let changes = [owner, delete, readOnly, writable, deleteEntry.map { "\($0)" }]
    guard changes.count(where: { $0 != nil }) <= 1 else {
      throw ValidationError("Only one change at a time.")
    }
    guard room != nil || owner == nil && deleteEntry == nil else {
      throw ValidationError("--owner and --delete-entry need --room.")
    }
  }

  func run() throws {
    let configuration = try relay.load()
    if let change { return try relay.perform(change, configuration) }
    let rooms = try StoreOptions.explaining { try StorePlace(configuration).rooms() }
    for listed in rooms where room == nil || room == listed.name {
      let last = listed.lastAt.map { Ban.date($0) } ?? "none"
      StandardOutput.write(
        "\(listed.name)\t\(listed.members.counted("member"))\t"
          + "\(listed.entries.counted("entry", "entries"))\t"
          + "\(listed.bytes.counted("byte"))\tlast \(last)\n")
    }
  }

  /// What the relay is to do; `nil` = the rooms are listed.
  private var change: ClientMessage? {
    if let delete { return .deleteRoom(room: delete) }
    let id = "relay-rooms-\(WallClock.milliseconds)"
    if let room = readOnly ?? writable {
      var settings = RoomSettings.Change()
      settings.posting = readOnly == nil ? .everyone : .moderators
      return .send(ClientMessage.Send(room: room, id: id, settings: settings))
    }
    guard let room else { return nil }
    if let owner {
      let member = MemberChange(user: owner, role: .owner)
      return .send(ClientMessage.Send(room: room, id: id, member: member))
    }
    return deleteEntry.map { .send(ClientMessage.Send(room: room, id: id, delete: $0)) }
  }
}
