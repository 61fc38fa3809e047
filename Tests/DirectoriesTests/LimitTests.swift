import Glibc
import Platform
import Relay
import TestSupport
import Testing

@testable import Directories

/// Rate limits as both services have them.
@Suite struct `A directory that is limited` {
  /// Whole seconds since 1970, as the services count.
  private func soon(_ seconds: Int64 = 4) -> Int64 { WallClock.milliseconds / 1000 + seconds }

  private func place(_ conformer: Conformer) throws -> ServicePlace {
    let place = try ServicePlace(conformer)
    place.options.refreshMilliseconds = 3_600_000
    try place.service.control(#"{"people":450,"page_limit":100}"#)
    return place
  }

  @Test(arguments: [(Conformer.gitHub, 403), (.gitHub, 429), (.x, 429), (.xOld, 429)])
  func `reports the end of the limit, sends no request meanwhile, and continues by itself`(
    conformer: Conformer, refusal: Int
  ) throws {
    let place = try place(conformer)
    let observer = try Observer()
    // Three pages, and then the limit.
    let reset = soon()
    try place.service.control(
      #"{"remaining":3,"limit":null,"reset":\#(reset),"refusal":\#(refusal)}"#)
    let directory = try observer.start(place.directory(observer))
    let limited = try observer.waitForProblem()
    #expect(limited.problem == .limited(until: reset * 1000))
    #expect(limited.people.asOf == 0)
    #expect(try observer.waitForPeople().people.count == 450)
    directory.stop()

    let log = try place.service.log().filter(\.isPage)
    // Pages are not read again, and the last answer said that no requests remained.
    try #require(log.count == 5)
    #expect(!log.contains { $0.wasLimited })
    #expect(log[2].at < reset * 1000)
    #expect(reset * 1000 <= log[3].at)
    #expect(observer.seen.map { $0.people.people.count } == [0, 0, 450])
  }

  @Test(arguments: [Conformer.gitHub, .x, .xOld])
  func `is found limited by others, and keeps its list`(_ conformer: Conformer) throws {
    let place = try place(conformer)
    place.options.refreshMilliseconds = 800
    let observer = try Observer()
    let directory = try observer.start(place.directory(observer))
    let good = try observer.waitForPeople()
    // Another client with this token has used it up.
    let reset = soon()
    let status = conformer == .gitHub ? 403 : 429
    try place.service.control(
      #"{"remaining":0,"limit":null,"reset":\#(reset),"refusal":\#(status)}"#)
    let limited = try observer.waitForProblem()
    #expect(limited.problem == .limited(until: reset * 1000))
    #expect(limited.people.people == good.people)
    try observer.waitForPeople(after: limited.people.asOf)
    directory.stop()
    #expect(try place.service.log().filter(\.wasLimited).count == 1)
  }

  @Test(arguments: [Conformer.gitHub, .x, .xOld])
  func `stays limited over a restart`(_ conformer: Conformer) throws {
    let place = try place(conformer)
    let reset = soon(5)
    try place.service.control(#"{"remaining":3,"limit":null,"reset":\#(reset)}"#)
    let before = try Observer()
    let first = try before.start(place.directory(before))
    try before.waitForProblem()
    first.stop()
    let count = try place.service.log().count

    let after = try Observer()
    let second = try after.start(place.directory(after))
    #expect(try after.waitForProblem().problem == .limited(until: reset * 1000))
    #expect(try place.service.log().count == count)
    #expect(try after.waitForPeople().people.count == 450)
    second.stop()
    let log = try place.service.log()
    #expect(!log.contains { $0.wasLimited })
    #expect(log[count].at >= reset * 1000)
  }

  @Test(arguments: [403, 429])
  func `waits as long as GitHub says for a secondary limit`(_ status: Int) throws {
    let place = try place(.gitHub)
    let observer = try Observer()
    try place.service.control(
      """
      {"remaining":0,"limit":null,"reset":\(soon()),"refusal":\(status),
        "refusal_form":"retry-after"}
      """)
    let asked = WallClock.milliseconds
    let directory = try observer.start(place.directory(observer))
    let problem = try observer.waitForProblem().problem
    guard case .limited(let until?)? = problem else {
      throw Unexpected("\(String(describing: problem))")
    }
    #expect((asked + 3000...asked + 6000).contains(until))
    try observer.waitForPeople()
    directory.stop()
    let log = try place.service.log()
    #expect(log.filter(\.wasLimited).count == 1)
    #expect(log[1].at >= until)
  }

  @Test(arguments: [(Conformer.gitHub, "secondary"), (.x, "bare"), (.xOld, "bare")])
  func `waits longer each time if the service does not say how long`(
    conformer: Conformer, form: String
  ) throws {
    let place = try place(conformer)
    let observer = try Observer()
    try place.service.control(
      #"{"remaining":0,"limit":null,"reset":\#(soon()),"refusal_form":"\#(form)"}"#)
    let directory = try observer.start(place.directory(observer))
    #expect(try observer.waitForProblem().problem == .limited(until: nil))
    try observer.waitForPeople()
    directory.stop()
    // At 0, 0.5, 1.5, 3.5 s and, the longest wait being 2 s, 5.5 s.
    let tries = try place.service.log().filter(\.isPage)
    let waits = zip(tries, tries.dropFirst()).map { $1.at - $0.at }.prefix(3)
    #expect(zip(waits, [500, 1000, 2000]).allSatisfy { $0 >= $1 })
    #expect(observer.seen.filter { $0.problem != nil }.count == 1)
  }

  @Test func `takes the difference of the clocks into account`() throws {
    let place = try place(.gitHub)
    let observer = try Observer()
    // The service's clock is an hour ahead.
    let reset = soon()
    try place.service.control(
      #"{"remaining":0,"limit":null,"reset":\#(reset),"date_offset":3600}"#)
    let directory = try observer.start(place.directory(observer))
    let problem = try observer.waitForProblem().problem
    guard case .limited(let until?)? = problem else {
      throw Unexpected("\(String(describing: problem))")
    }
    #expect((reset * 1000 - 60_000...reset * 1000 + 60_000).contains(until))
    try observer.waitForPeople()
    directory.stop()
  }

  @Test func `does not affect a complete list, but the next one`() throws {
    let place = try place(.gitHub)
    place.options.refreshMilliseconds = 300
    let observer = try Observer()
    let reset = soon()
    try place.service.control(#"{"remaining":5,"limit":null,"reset":\#(reset)}"#)
    let directory = try observer.start(place.directory(observer))
    let list = try observer.waitForPeople()
    try observer.waitForPeople(after: list.asOf)
    directory.stop()
    #expect(observer.seen.allSatisfy { $0.problem == nil })
    let log = try place.service.log()
    #expect(!log.contains { $0.wasLimited })
    #expect(log[5].at >= reset * 1000)
  }

  @Test func `ends immediately when it is stopped`() throws {
    let place = try place(.gitHub)
    let observer = try Observer()
    try place.service.control(#"{"remaining":0,"limit":null,"reset":\#(soon(3000))}"#)
    let directory = try observer.start(place.directory(observer))
    try observer.waitForProblem()
    #expect(returnsSoon(directory.stop))
  }
}
