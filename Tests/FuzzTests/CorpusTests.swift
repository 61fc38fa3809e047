import FuzzTargets
import Glibc
import Testing

/// Every input that is kept, and so every past finding, fed once: without libFuzzer.
@Suite struct `Fuzzing's corpora` {
  @Test(arguments: FuzzTarget.allCases)
  func `every kept input holds what its target promises`(target: FuzzTarget) throws {
    let inputs = try Corpus.inputs(of: target)
    #expect(inputs.count >= 5, "the corpus of \(target.rawValue) is missing")
    for input in inputs {
      do throws(FuzzFinding) {
        try target.check(input.bytes)
      } catch {
        Issue.record("\(input.path): \(error)")
      }
    }
  }

  @Test func `every folder belongs to a target`() {
    #expect(Set(Corpus.folders) == Set(FuzzTarget.allCases.map(\.rawValue)))
  }
}

/// Tests/Fuzz/corpus.
enum Corpus {
  static let path =
    "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Fuzz/corpus"

  struct Unreadable: Error { var path: String }

  static var folders: [String] { names(in: path) }

  static func inputs(of target: FuzzTarget) throws -> [(path: String, bytes: [UInt8])] {
    let folder = "\(path)/\(target.rawValue)"
    return try names(in: folder).map { ("\(folder)/\($0)", try read("\(folder)/\($0)")) }
  }

  private static func names(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  private static func read(_ path: String) throws -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { throw Unreadable(path: path) }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }
}
