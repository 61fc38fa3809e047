import FuzzTargets
import TestSupport
import Testing
import WebSocket

/// Feeds every input in the corpus, and so every past finding, once, without libFuzzer.
@Suite struct `Fuzzing's corpora` {
  @Test(arguments: FuzzTarget.allCases)
  func `every kept input satisfies its target's properties`(target: FuzzTarget) throws {
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
    let names = Corpus.names.map { $0.split(separator: ".")[0] }
    #expect(Set(names) == Set(FuzzTarget.allCases.map { $0.rawValue[...] }))
  }
}

/// Tests/Fuzz/corpus.
enum Corpus {
  static let path = Project["Tests/Fuzz/corpus"]

  struct Unreadable: Error { var path: String }

  static var names: [String] { names(in: path) }

  /// The inputs with a name, and those that the fuzzer has found, one line of base64 each.
  static func inputs(of target: FuzzTarget) throws -> [(path: String, bytes: [UInt8])] {
    let folder = "\(path)/\(target.rawValue)"
    let named = try names(in: folder).map { ("\(folder)/\($0)", try readBytes("\(folder)/\($0)")) }
    guard names.contains("\(target.rawValue).base64") else { return named }
    let lines = try readBytes("\(folder).base64").split(separator: UInt8(ascii: "\n"))
    let found = try lines.enumerated().map { number, line in
      let place = "\(folder).base64:\(number + 1)"
      guard let bytes = Base64.decode(String(decoding: line, as: UTF8.self)) else {
        throw Unreadable(path: place)
      }
      return (place, bytes)
    }
    return named + found
  }

  private static func names(in folder: String) -> [String] {
    ((try? fileNames(in: folder)) ?? []).filter { !$0.hasPrefix(".") }
  }
}
