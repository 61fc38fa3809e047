import Mixing
import Testing

@testable import Swarm

/// Records as the recorder writes them.
private struct Recording {
  private(set) var bytes: [UInt8] = []
  private var number: UInt64 = 0

  mutating func add(_ code: UInt64, file: UInt64 = 0, offset: UInt64 = 0, _ payload: [UInt8] = []) {
    number += 1
    for value in [number, code, file, offset, UInt64(payload.count)] {
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    bytes += payload
  }
  mutating func create(_ name: String, as file: UInt64) { add(1, file: file, Array(name.utf8)) }
  mutating func open(_ name: String, as file: UInt64) { add(2, file: file, Array(name.utf8)) }
  mutating func write(_ file: UInt64, at offset: UInt64, _ payload: [UInt8]) {
    add(3, file: file, offset: offset, payload)
  }
  mutating func sync(_ file: UInt64, through last: UInt64? = nil) {
    add(5, file: file, offset: last ?? number)
  }
}

@Suite struct `A disk that loses power` {
  private func files(
    _ recording: Recording, from files: [String: [UInt8]] = [:], _ mercy: Disk.Mercy,
    seed: UInt64 = 1
  ) throws -> [String: [UInt8]] {
    var random = SplitMix64(seed: seed)
    return Disk(files, try DiskRecord(recording.bytes)).afterPowerLoss(mercy, using: &random)
  }

  @Test(arguments: Disk.Mercy.allCases)
  func `keeps what was synced, with its name`(_ mercy: Disk.Mercy) throws {
    var recording = Recording()
    recording.create("a", as: 7)
    recording.write(7, at: 0, [1, 2, 3, 4])
    recording.write(7, at: 2, [9])
    recording.sync(7)
    for seed in 1...50 as ClosedRange<UInt64> {
      #expect(try files(recording, mercy, seed: seed) == ["a": [1, 2, 9, 4]])
    }
  }

  @Test func `forgets what was not synced`() throws {
    var recording = Recording()
    recording.open("a", as: 7)
    recording.write(7, at: 0, [5])
    recording.create("b", as: 8)
    recording.write(8, at: 0, [6])
    #expect(try files(recording, from: ["a": [1, 2]], .none) == ["a": [1, 2]])
  }

  @Test func `a sync covers exactly the writes before it began`() throws {
    var recording = Recording()
    recording.create("a", as: 7)
    recording.write(7, at: 0, [1])
    recording.write(7, at: 0, [2])
    recording.sync(7, through: 2)
    #expect(try files(recording, .none) == ["a": [1]])
  }

  @Test func `a sync of one file says nothing about another`() throws {
    var recording = Recording()
    recording.create("a", as: 7)
    recording.create("b", as: 8)
    recording.sync(8)
    recording.write(7, at: 0, [1])
    recording.sync(8)
    #expect(try files(recording, .none) == ["a": [], "b": []])
  }

  @Test func `writes survive in any combination, and a torn one by sectors`() throws {
    var recording = Recording()
    recording.create("a", as: 7)
    recording.sync(7)
    recording.write(7, at: 0, [UInt8](repeating: 1, count: 1024))
    var some: Set<[UInt8]> = []
    var torn: Set<[UInt8]> = []
    for seed in 1...100 as ClosedRange<UInt64> {
      some.insert(try #require(try files(recording, .some, seed: seed)["a"]))
      torn.insert(try #require(try files(recording, .torn, seed: seed)["a"]))
    }
    #expect(some.count == 2)
    #expect(torn.count == 4)
  }

  @Test func `an inode that was given again is another file`() throws {
    var recording = Recording()
    recording.create("a", as: 7)
    recording.write(7, at: 0, [1, 1, 1])
    recording.sync(7)
    recording.add(6, Array("a".utf8))
    recording.create("b", as: 7)
    recording.write(7, at: 0, [2])
    recording.sync(7)
    #expect(try files(recording, .none) == ["b": [2]])
  }

  @Test func `a removal that was not synced may be undone`() throws {
    var recording = Recording()
    recording.add(6, Array("a".utf8))
    #expect(try files(recording, from: ["a": [1]], .none) == ["a": [1]])
    recording.add(8, offset: 1)
    #expect(try files(recording, from: ["a": [1]], .none) == [:])
  }

  @Test func `a record that the kill cut off is left out, and one that is unknown is an error`()
    throws
  {
    var recording = Recording()
    recording.create("a", as: 7)
    recording.write(7, at: 0, [1, 2, 3])
    #expect(try DiskRecord(recording.bytes.dropLast()).events.count == 1)
    recording.add(9)
    #expect(throws: DiskRecord.Damage.self) { try DiskRecord(recording.bytes) }
  }
}

extension DiskRecord {
  fileprivate init(_ bytes: ArraySlice<UInt8>) throws { try self.init(Array(bytes)) }
}
