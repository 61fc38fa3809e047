import TestSupport
import Testing

/// The bugs that the simulation and the fuzzer must find are patches; the product may outgrow them.
@Suite struct `Planted bugs` {
  private static let folder = Folder.package.folder("Tests/Simulation/PlantedBugs")

  @Test func `each of them can still be planted`() throws {
    let copy = try TemporaryFolder()
    try run("\(Self.folder.path)/plant", copy.path)
    var planted = 0
    for file in Folder(copy["Sources"]).swiftFiles {
      planted += try file.lines().count { $0.contains("isPlanted(") }
    }
    #expect(planted >= 30)
  }
}
