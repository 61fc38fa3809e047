import Archive
import Glibc
import Mixing
import Platform
import TestSupport
import Testing
import Wire

@Suite struct `Killed processes, and two processes together` {
  @Test func `enqueued messages survive a kill at any moment, and the history stays whole`()
    async throws
  {
    let folder = try TemporaryFolder()
    var dice = SplitMix64(seed: 7)
    var enqueued: Set<String> = []
    for round in 1...6 {
      let file = folder.file
      let delay = UInt32.random(in: 30_000...150_000, using: &dice)
      let exit = await #expect(
        processExitsWith: .signal(SIGKILL), observing: [\.standardErrorContent]
      ) { [file = file as String, round = round as Int, delay = delay as UInt32] in
        let archive = try Archive(path: file)
        if round == 1 { archive.begin("general", epoch: "e1", after: 0) }
        var seq = try archive.room()?.latest ?? 0
        try kill(after: delay)
        for count in 1... {
          for _ in 1...20 {
            seq += 1
            archive.append(.text(seq, String(repeating: "x", count: Int(seq % 300))))
          }
          if count % 7 == 0 { archive.append(.delete(seq + 1, of: seq)); seq += 1 }
          if count % 3 == 0 { try archive.flush() }
          let id = "\(round)-\(count)"
          try archive.enqueue(.init(room: "general", id: id, text: "not sent"), at: 1)
          say("enqueued \(id)")
        }
      }
      let said = String(decoding: exit?.standardErrorContent ?? [], as: UTF8.self)
      for line in said.split(separator: "\n") where line.hasPrefix("enqueued ") {
        enqueued.insert(String(line.dropFirst("enqueued ".count)))
      }
      let archive = try Archive(path: folder.file)
      #expect(archive.damage == nil)
      // The kernel may release the lock of a killed process only after its end was seen.
      let deadline = Deadline()
      while try archive.takeOver().othersRemain, !deadline.hasPassed { usleep(1000) }
      #expect(enqueued.isSubset(of: try archive.outbox().map(\.send.id)))
      if let room = try archive.room(), room.latest > 0 {
        let kept = try rows(of: "entries", in: folder)
        #expect(room.first == 1)
        #expect(kept == room.latest)
      }
    }
    #expect(enqueued.count > 20)
    let faults = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"
    #expect(try sql(faults, on: folder.file) == 0)
  }

  @Test func `two processes share a file, and neither loses anything`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file
    let entries = 3000 as Int64
    do {
      let archive = try Archive(path: file)
      archive.begin("general", epoch: "e1", after: 0)
      try archive.close()
    }
    // Not in this process: one that waits would hold a thread that the other needs to start.
    async let one: Void = {
      await #expect(processExitsWith: .success) {
        [file = file as String, entries = entries as Int64] in
        try work(on: file, through: entries, as: "this")
      }
    }()
    async let other: Void = {
      await #expect(processExitsWith: .success) {
        [file = file as String, entries = entries as Int64] in
        try work(on: file, through: entries, as: "other")
      }
    }()
    _ = await (one, other)
    let archive = try Archive(path: file)
    #expect(try archive.seqs() == Array(1...entries))
    let ids = Set(try archive.outbox().map(\.send.id))
    #expect(ids == Set((1...60).flatMap { ["this-\($0)", "other-\($0)"] }))
    #expect(archive.damage == nil)
  }
}

/// Acts like a wschat that receives every message, and sends some.
private func work(on file: String, through last: Int64, as name: String) throws {
  let archive = try Archive(path: file)
  // Waits until both are ready.
  try write([], to: "\(file).\(name)")
  guard becomesTrue({ exists("\(file).this") && exists("\(file).other") }) else {
    throw Unexpected("the other process did not start")
  }
  for seq in 1...last {
    archive.append(.text(seq))
    if seq % 10 == 0 { try archive.flush() }
    if seq % 50 == 0 {
      try archive.enqueue(.init(room: "general", id: "\(name)-\(seq / 50)", text: "hi"), at: 1)
    }
  }
  let isWritten = try becomesTrue {
    try archive.flush()
    return !archive.hasChanges
  }
  guard isWritten else { throw Unexpected("changes are left") }
}

/// Kills this process from another thread, whatever it is doing at that time.
private func kill(after microseconds: UInt32) throws {
  var thread = pthread_t()
  let delay = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
  unsafe delay.initialize(to: microseconds)
  let code = unsafe pthread_create(
    &thread, nil,
    { argument in
      let delay = unsafe argument?.assumingMemoryBound(to: UInt32.self).pointee ?? 0
      usleep(delay)
      _ = Glibc.kill(getpid(), SIGKILL)
      return nil
    }, delay)
  guard code == 0 else { throw SystemError("pthread_create", code: code) }
}
