import Glibc
import Relay
import TestSupport
import Testing

@testable import Directories

@Suite struct `The contract of a directory` {
  @Test(arguments: Conformer.allCases)
  func `a list that was never read is empty, and reported first`(
    _ conformer: Conformer
  ) throws {
    try conformer.run { place in
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      defer { directory.stop() }
      let first = try observer.wait { _ in true }
      #expect(first.people.asOf == 0)
      #expect(first.people.people.isEmpty)
      #expect(first.problem == nil)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a list appears when it is complete, in the directory's order`(
    _ conformer: Conformer
  ) throws {
    try conformer.run { place in
      try place.setPeople(1234, [])
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      defer { directory.stop() }
      let list = try observer.waitForPeople()
      #expect(list.people.map(\.user) == (1...1234).map(place.user))
      #expect(list.leftOut == 0)
      #expect(list.index(of: place.user(1000)) == 999)
      #expect(observer.seen.allSatisfy { [0, 1234].contains($0.people.people.count) })
    }
  }

  @Test(arguments: Conformer.allCases)
  func `names are converted, and people without a valid name are left out and counted`(
    _ conformer: Conformer
  ) throws {
    try conformer.run { place in
      try place.setPeople(6, ["AdaL", "x[bot]", "no one", "ADAl", "b[x]", "zoë"])
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      defer { directory.stop() }
      let list = try observer.waitForPeople()
      #expect(list.people.map(\.user) == ["adal", "x.bot"])
      #expect(list.leftOut == 3)
      let names = list.people.map(\.name)
      switch conformer {
      case .gitHub: #expect(names == ["AdaL", "x[bot]"])
      case .local: #expect(names == ["The AdaL", "The x[bot]"])
      case .x, .xOld: #expect(names == ["Follower no. 1", "Follower no. 2"])
      }
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a failure leaves the last good list, and passes by itself`(_ conformer: Conformer) throws {
    try conformer.run { place in
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      defer { directory.stop() }
      let good = try observer.waitForPeople()
      try place.breakDown()
      let bad = try observer.waitForProblem()
      guard case .failed(let text, _)? = bad.problem else { throw Unexpected("\(bad)") }
      #expect(!text.isEmpty)
      #expect(bad.people.people == good.people)
      #expect(bad.people.asOf >= good.asOf)
      try place.setPeople(4, [])
      try place.repair()
      let better = try observer.waitForPeople(after: bad.people.asOf)
      #expect(better.people.count == 4)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the last good list outlives the process, with its time`(_ conformer: Conformer) throws {
    try conformer.run { place in
      let before = try Observer()
      let first = try before.start(place.directory(before))
      try before.waitForPeople()
      first.stop()
      let good = try #require(before.seen.last).people
      try place.breakDown()

      let after = try Observer()
      let second = try after.start(place.directory(after))
      defer { second.stop() }
      let kept = try after.wait { _ in true }.people
      #expect(kept.people == good.people)
      #expect(kept.asOf == good.asOf)
      #expect(kept.source == good.source)
      let failing = try after.waitForProblem()
      #expect(failing.people.people == good.people)
      #expect(failing.people.asOf == good.asOf)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the stored list is readable by its owner only, and used for its source only`(
    _ conformer: Conformer
  ) throws {
    try conformer.run { place in
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      try observer.waitForPeople()
      directory.stop()
      #expect(place.folder.names.contains("directory.json"))
      for name in place.folder.names { #expect(try place.folder.permissions(of: name) == 0o600) }

      let other = try Observer()
      let another = try other.start(place.otherDirectory(other))
      defer { another.stop() }
      #expect(try other.wait { _ in true }.people.asOf == 0)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a damaged stored list is read again from the service`(_ conformer: Conformer) throws {
    try conformer.run { place in
      try place.folder.write(#"{"version":1,"identity":"#, to: "directory.json")
      try place.folder.write("[]", to: "directory-token.json")
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      defer { directory.stop() }
      #expect(try observer.waitForPeople().people.count == 3)
      #expect(observer.told.contains { $0.contains("directory.json is damaged") })
    }
  }

  @Test(arguments: Conformer.allCases)
  func `without a folder nothing is stored, and all else is equal`(_ conformer: Conformer) throws {
    try conformer.run { place in
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer, keeping: false))
      try observer.waitForPeople()
      directory.stop()
      #expect(place.folder.names.isEmpty)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `without a writable folder only the stored list is missing`(
    _ conformer: Conformer
  ) throws {
    try conformer.run { place in
      _ = unsafe rmdir(place.folder.path)
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      defer { directory.stop() }
      try observer.waitForPeople()
      let complaints = observer.told.filter { $0.contains("cannot be written") }
      #expect(complaints.count == 1)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `after stop nothing is published, and stop does not wait`(_ conformer: Conformer) throws {
    try conformer.run { place in
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      try observer.waitForPeople()
      #expect(returnsSoon(directory.stop))
      let count = observer.seen.count
      try place.setPeople(9, [])
      directory.stop()
      usleep(300_000)
      #expect(observer.seen.count == count)
    }
  }
}
