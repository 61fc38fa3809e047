import Glibc
import TestSupport
import Testing
import YAML

@testable import Swarm

/// The server for uWebSockets, which is compiled with the copy that `UWEBSOCKETS` names.
@Suite struct `uWebSockets as a peer` {
  private static let checkout = Programs.environment("UWEBSOCKETS")

  private static func server(_ library: String, _ built: String) -> LibraryServer {
    LibraryServer(
      library: library, source: Project["LoadTests/peers/uwebsockets.cpp"], built: built)
  }

  @Test(
    .enabled(if: checkout != nil, "UWEBSOCKETS names no checkout of uWebSockets"),
    .timeLimit(.minutes(10)))
  func `every message of a room reaches all members, also its sender, and no other room`() throws {
    let folder = try TemporaryFolder()
    let library = try #require(Self.checkout)
    try Self.server(library, folder.path).compile()
    #expect(folder.names == ["uwebsockets"])
    var places = BenchProgram.Places(commands: folder.path, built: folder.path, peers: folder.path)
    places.uWebSockets = library
    let server = try BenchServer(
      .library(places, deliveryBytes: 282), in: folder.path, processor: nil)
    for (members, window) in [(2, 8), (200, 32)] {
      var plan = RawLoad.Plan(url: try #require(server.url()), dialect: server.program.dialect)
      plan.rooms = 5
      plan.membersPerRoom = members
      plan.sendersPerRoom = 2
      plan.work = .publish(.window(window))
      plan.textBytes = server.program.textBytes
      plan.roomPrefix = "r\(members)-"
      plan.warmUpSeconds = 0
      plan.seconds = 0.2
      let result = try RawLoad(plan).play()
      #expect(result.missing == 0)
      #expect(result.whole.deliveries == result.whole.sends * members)
      #expect(result.whole.sends > window)
      #expect(result.connectionsLost == 0)
      // The relay's deliveries have the same size.
      #expect(result.whole.bytes == result.whole.deliveries * 282)
    }
    var echo = RawLoad.Plan(url: try #require(server.url(echo: true)), dialect: .echo)
    echo.rooms = 3
    echo.work = .publish(.window(16))
    echo.textBytes = 64
    echo.warmUpSeconds = 0
    echo.seconds = 0.1
    let result = try RawLoad(echo).play()
    #expect(result.missing == 0)
    #expect(result.whole.deliveries > 16)
  }

  @Test(
    .enabled(if: checkout != nil, "UWEBSOCKETS names no checkout of uWebSockets"),
    .timeLimit(.minutes(10)))
  func `the benchmark measures it in turn with the relay`() throws {
    let folder = try TemporaryFolder()
    try Floor.build(in: folder.path)
    let json = folder["bench.json"]
    let run = try Shell.run(
      "'\(Programs.swarm)' bench --quick --rows room-1,idle --built '\(folder.path)' --json '\(json)'"
        + " --peers '\(Project["LoadTests/peers"])' --uwebsockets '\(try #require(Self.checkout))'")
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("÷ uWebSockets"), "\(run.output)")
    let rows = try #require(YAMLDocument(try readBytes(json)).root).each("rows") { $0 }
    #expect(rows.map { $0.words("id") } == ["room-1", "idle"])
    let libraries = try rows.map { row in
      try #require(row["peers"]?.list?.first { $0.words("name") == BenchRow.libraryName })
    }
    #expect(libraries[0]["runs"]?.list?.count == rows[0]["pairs"]?.list?.count)
    #expect(libraries.allSatisfy { $0.figure("figure") ?? 0 > 10 })
  }

  @Test func `without a checkout it is left out, and the report says so`() throws {
    let folder = try TemporaryFolder()
    try Floor.build(in: folder.path)
    let run = try Shell.run(
      "'\(Programs.swarm)' bench --quick --rows room-1 --built '\(folder.path)'"
        + " --peers '\(Project["LoadTests/peers"])'")
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(
      run.output.contains(
        "uWebSockets is left out: --uwebsockets FOLDER names a checkout to compile it from\n"))
    #expect(run.output.contains("uWebSockets: left out: no --uwebsockets\n"))
    #expect(!run.output.contains("÷ uWebSockets"))
  }

  @Test func `a folder that is no checkout, or a part of one, is refused before the first row`()
    throws
  {
    let folder = try TemporaryFolder()
    try Floor.build(in: folder.path)
    func bench(_ library: String) throws -> (exitCode: Int32, output: String) {
      try Shell.run(
        "'\(Programs.swarm)' bench --quick --rows room-1 --built '\(folder.path)'"
          + " --peers '\(Project["LoadTests/peers"])' --uwebsockets '\(library)'")
    }
    let library = folder["library"]
    let absent = try bench(library)
    #expect(absent.exitCode == 2)
    #expect(
      absent.output.contains(
        "there is no folder \(library): --uwebsockets names a checkout of uWebSockets"))

    unsafe mkdir(library, 0o700)
    let empty = try bench(library)
    #expect(empty.exitCode == 2)
    #expect(
      empty.output.contains(
        "is not a checkout of uWebSockets: it has no src/App.h; git clone --recurse-submodules brings it\n"
      ))

    // A clone without its submodules.
    unsafe mkdir("\(library)/src", 0o700)
    try folder.write("#error \"no library\"\n", to: "library/src/App.h")
    let bare = try bench(library)
    #expect(bare.exitCode == 2)
    #expect(
      bare.output.contains(
        "it has no uSockets/src/libusockets.h; git submodule update --init uSockets brings it\n"))

    // Code that does not compile.
    unsafe mkdir("\(library)/uSockets", 0o700)
    unsafe mkdir("\(library)/uSockets/src", 0o700)
    try folder.write("", to: "library/uSockets/src/libusockets.h")
    let broken = try bench(library)
    #expect(broken.exitCode == 2)
    #expect(broken.output.contains("cannot compile \(Project["LoadTests/peers/uwebsockets.cpp"])"))
    #expect(broken.output.contains("no library"))
    #expect(broken.output.contains("all that c++ printed is in "))
    #expect(try folder.read("uwebsockets.log").contains("no library"))
    #expect(!folder.names.contains("uwebsockets"))
  }
}

/// The floor, built for a test.
enum Floor {
  static func build(in folder: String) throws {
    let sources = Project["LoadTests/floor"]
    let built = try Shell.run("cc -O2 -Wall -Wextra -Werror -o '\(folder)/floor' '\(sources)'/*.c")
    #expect(built.exitCode == 0, "\(built.output)")
  }
}
