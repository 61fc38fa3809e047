import TestSupport
import Testing

@testable import Imports

@Suite struct `A table of people` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(_ text: String) throws(UnreadableExport) -> PeopleTable {
    try? folder.write(text, to: "people")
    return try PeopleTable(file: folder["people"])
  }

  @Test func `has a name there, which may have blanks, and a user here on each line`() throws {
    let table = try read("# names\n\nZoë zoe\r\nAda  Lovelace\tada\n")
    #expect(table.users == ["Zoë": "zoe", "Ada Lovelace": "ada"])
  }

  @Test(arguments: ["zoe", "Zoë Zoë", "relay sys", "a b/c"])
  func `a line without a valid user is refused, by its number`(line: String) {
    let error = #expect(throws: UnreadableExport.self) { try read("ada ada\n\(line)\n") }
    #expect(error?.line == 2)
  }

  @Test func `a table beyond the limit is refused`() throws {
    try run("truncate", "--size=\(ImportLimits.tableBytes + 1)", folder["people"])
    #expect(throws: UnreadableExport.self) { try PeopleTable(file: folder["people"]) }
  }

  @Test func `a name that is there twice is refused`() {
    #expect(
      throws: UnreadableExport(folder["people"], line: 2, "names ada again; leave one of the lines")
    ) {
      try read("ada ada\nada bo\n")
    }
  }
}
