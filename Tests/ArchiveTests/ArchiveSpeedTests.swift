import Archive
import Glibc
import Mixing
import TestSupport
import Testing
import Wire

@Suite struct `A long conversation` {
  @Test func `is paged through to its beginning, and counted`() throws {
    let folder = try TemporaryFolder()
    _ = try Conversation.fill(folder, 5000)
    let archive = try Archive(path: folder.file)
    var seqs: [Int64] = []
    var page = try archive.page(of: "general", limit: 100)
    #expect(page.count == 100)
    while let first = page.first {
      seqs = page.map(\.seq) + seqs
      page = try archive.page(of: "general", before: first.seq, limit: 50)
    }
    // The texts, without reactions and edits.
    #expect(seqs == (1...5000).filter { $0 % 10 != 0 && $0 % 25 != 1 })
  }
}

/// Prints the time that it takes: on the clock, and of the processor, which is affected little by
/// other load. The bounds are for a debug build, and catch errors by a factor, such as a scan in
/// place of an index.
@Suite struct `Measured: a conversation of 100,000 entries` {
  @Test func `opens, is paged through and grows without a delay`() throws {
    let folder = try TemporaryFolder()
    let flushes = try Conversation.fill(folder, 100_000)
    var archive: Archive?
    let opening = try Took { archive = try Archive(path: folder.file) }
    let opened = try #require(archive)
    let listing = try Took { _ = try opened.rooms() }
    var newest: [Entry] = []
    let first = try Took { newest = try opened.page(of: "general", limit: 100) }
    #expect(newest.count == 100)
    var pages: [Took] = []
    var before = newest.first?.seq
    var count = newest.count
    while let seq = before {
      var page: [Entry] = []
      pages.append(try Took { page = try opened.page(of: "general", before: seq, limit: 50) })
      count += page.count
      before = page.first?.seq
    }
    #expect(count == 86_000)
    let counting = try Took {
      _ = try opened.contentCount(in: "general", after: 0, notFrom: "ada")
    }
    var enqueues: [Took] = []
    for id in 1...100 {
      enqueues.append(
        try Took {
          try opened.enqueue(.init(room: "general", id: "\(id)", text: "hi"), at: 1)
        })
    }
    let beginning = try Took {
      opened.begin("general", epoch: "e2", after: 5)
      try opened.flush()
    }
    print(
      """
      opened in \(opening), listed in \(listing), the newest 100 in \(first),
      a page of 50: \(spread(pages)),
      a flush of 100: \(spread(flushes)),
      a durable message: \(spread(enqueues)),
      all counted in \(counting), begun anew in \(beginning)
      """)
    #expect(opening.processor < .milliseconds(100))
    #expect(first.processor < .milliseconds(50))
    #expect(pages.map(\.processor).sorted()[pages.count * 99 / 100] < .milliseconds(20))
    #expect(flushes.map(\.processor).sorted()[flushes.count * 99 / 100] < .milliseconds(50))
    #expect(beginning.processor < .milliseconds(50))
  }
}

@Suite struct `Measured: a search of 100,000 entries` {
  /// Words as in a language: some are in most texts, most are rare.
  private static func fill(_ archive: Archive, _ count: Int64) {
    var dice = SplitMix64(seed: 1)
    let words = (0..<20_000).map { _ in
      String(
        (0..<Int.random(in: 3...9, using: &dice)).map { _ in
          "abcdefghijklmnopqrstuvwxyz".randomElement(using: &dice) ?? "a"
        })
    }
    archive.begin("general", epoch: "e1", after: 0)
    for seq in 1...count {
      let text = (0..<10).map { _ in
        words[Int(20_000 * pow(Double.random(in: 0..<1, using: &dice), 4))]
      }
      archive.append(.text(seq, text.joined(separator: " ") + " message \(seq)"))
    }
  }

  @Test func `takes no longer than a frame may`() throws {
    let folder = try TemporaryFolder()
    let archive = try Archive(path: folder.file)
    Self.fill(archive, 100_000)
    let flushes = try Took { try archive.flush() }
    let indexing = try Took { try folder.waitForIndex() }
    for text in [
      "message", "m", "message 99", "message 99999", "nosuchword", "a b c", "m 1 a nosuch",
    ] {
      var steps: [Took] = []
      var search = Archive.Search(text)
      while !search.isComplete, search.found.count < 100 {
        steps.append(try Took { try archive.advance(&search, wanted: 100) })
      }
      let all = steps.map(\.processor).reduce(.zero, +)
      print(
        "\(text): \(search.found.count) in \(steps.count) steps, \(all), longest \(spread(steps))")
      // In a debug build.
      #expect(all < .milliseconds(300))
    }
    print("the last flush \(flushes), indexed after \(indexing)")
  }
}

private enum Conversation {
  /// Stores a conversation of `count` entries in a new archive.
  ///
  /// - Returns: the times of the flushes, of 100 entries each.
  static func fill(_ folder: TemporaryFolder, _ count: Int64) throws -> [Took] {
    var flushes: [Took] = []
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 0)
    for seq in 1...count {
      archive.append(entry(seq))
      if seq % 100 == 0 { flushes.append(try Took { try archive.flush() }) }
    }
    try archive.close()
    return flushes
  }

  /// Of ten entries, one is a reaction, sometimes one an edit, and the others are texts.
  private static func entry(_ seq: Int64) -> Entry {
    let user = ["bo", "cy", "ada"][Int(seq % 3)]
    if seq % 10 == 0 { return .reaction(seq, to: seq - 5, "👍", from: user) }
    if seq % 25 == 1 { return .edit(seq, of: seq - 12, "edited \(seq)", from: user) }
    return .text(seq, "A text of the usual length, with the number \(seq) in it.", from: user)
  }
}

/// The time of a call.
private struct Took: CustomStringConvertible {
  var clock: Duration
  /// The time of this thread.
  var processor: Duration

  init(_ body: () throws -> Void) throws {
    var clock = Duration.zero
    processor = try Growth.processorTime { clock = try ContinuousClock().measure(body) }
    self.clock = clock
  }

  var description: String { "\(text(clock)) (CPU \(text(processor)))" }
}

private func spread(_ took: [Took]) -> String {
  func line(_ durations: [Duration]) -> String {
    let sorted = durations.sorted()
    return "p50 \(text(sorted[sorted.count / 2])) p99 \(text(sorted[sorted.count * 99 / 100]))"
  }
  return "\(line(took.map(\.clock))) (CPU \(line(took.map(\.processor))))"
}

private func text(_ duration: Duration) -> String {
  let microseconds = duration / .microseconds(1)
  return "\(Int(microseconds)) µs"
}
