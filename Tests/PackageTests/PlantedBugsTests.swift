import TestSupport
import Testing

/// The bugs that the simulation, the fuzzer and the tests of accounts must find are patches; the product may
/// outgrow them.
@Suite struct `Planted bugs` {
  private static let folder = Folder.package.folder("Tests/Simulation/PlantedBugs")

  @Test(arguments: [("Tests/Simulation/PlantedBugs", 87), ("Tests/PlantedFaults", 17)])
  func `each of them can still be planted`(bugs: String, count: Int) throws {
    let copy = try TemporaryFolder()
    try run("\(Self.folder.path)/plant", copy.path, bugs)
    var planted = 0
    for file in Folder(copy["Sources"]).swiftFiles {
      planted += try file.lines().count { $0.contains("isPlanted(") }
    }
    #expect(planted >= count)
  }
}
