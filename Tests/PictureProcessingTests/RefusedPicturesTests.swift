import Glibc
import Media
import TestSupport
import Testing

@testable import PictureProcessing

@Suite struct `Refused pictures` {
  private func expect(
    _ refusal: PictureRefusal, of set: String, where isRefused: (String) -> Bool = { _ in true }
  ) throws {
    let files = try PictureFiles(set)
    for name in files.names {
      if isRefused(name) {
        #expect(try files.process(name) == .failure(.refused(refusal)), "\(name)")
      } else {
        #expect(throws: Never.self, "\(name)") { try files.process(name).get() }
      }
    }
  }

  @Test func `an animation is no picture`() throws {
    try expect(.animated, of: "animations")
  }

  @Test func `a file of another format is no picture`() throws {
    try expect(.unknownFormat, of: "others")
  }

  @Test func `more than 64 megapixels are refused by the header`() throws {
    try expect(.tooManyPixels, of: "bombs") { !$0.hasPrefix("small") }
  }

  @Test func `more than 500 scans are refused`() throws {
    try expect(.damaged, of: "scans") { $0 == "2000.jpg" }
  }

  @Test func `metadata that inflates to more than memory is never inflated`() throws {
    let files = try PictureFiles("ballast")
    for name in files.names {
      let picture = try files.process(name).get()
      #expect((picture.width, picture.height) == (80, 60), "\(name)")
    }
  }

  @Test func `a file longer than 32 MiB is no picture`() throws {
    let files = try PictureFiles("seeds")
    let limit: off_t = 32 << 20
    // What follows a picture does not matter, up to the limit.
    for (length, refusal) in [(limit, nil), (limit + 1, PictureRefusal.fileTooLong)] {
      #expect(unsafe truncate(files.folder["a.jpg"], length) == 0)
      let result = try files.process("a.jpg")
      if let refusal {
        #expect(result == .failure(.refused(refusal)))
      } else {
        #expect(throws: Never.self) { try result.get() }
      }
    }
  }

  @Test func `a file that is cut anywhere is a picture or damaged`() throws {
    let files = try PictureFiles("seeds")
    var made: [String] = []
    for name in files.names {
      let bytes = try readBytes(files.folder[name])
      for part in 0..<16 {
        let cut = "cut-\(part)-\(name)"
        try files.folder.write(Array(bytes.prefix(bytes.count * part / 16)), to: cut)
        switch try files.process(cut) {
        case .success: made.append(cut)
        case .failure(let failure):
          #expect([.refused(.damaged), .refused(.unknownFormat)].contains(failure), "\(cut)")
        }
      }
    }
    // The last rows of a JPEG may be missing.
    #expect(!made.isEmpty && made.allSatisfy { $0.hasSuffix(".jpg") }, "\(made)")
    #expect(try files.show(made.map { "\($0).picture" }).count == made.count)
  }
}
