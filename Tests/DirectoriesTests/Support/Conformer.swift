import Directories
import Relay
import TestSupport
import Testing

/// Every `Directory`. All pass the suite for the contract.
enum Conformer: String, CaseIterable, CustomTestStringConvertible {
  case local
  case gitHub
  case x
  case xOld

  var testDescription: String { rawValue }

  func run(_ test: (any Place) throws -> Void) throws {
    try test(self == .local ? try FilePlace() : try ServicePlace(self))
  }
}

/// The source of a directory's people, as a test arranges it.
protocol Place: AnyObject {
  /// The folder for stored state.
  var folder: TemporaryFolder { get }
  func directory(_ observer: Observer, keeping: Bool) throws -> any Directory
  /// Another source of the same kind.
  func otherDirectory(_ observer: Observer) throws -> any Directory
  /// Person-0001 and so on, after these.
  func setPeople(_ count: Int, _ logins: [String]) throws
  func breakDown() throws
  func repair() throws
  /// The user for a login there.
  func user(_ number: Int) -> String
}

extension Place {
  func directory(_ observer: Observer) throws -> any Directory {
    try directory(observer, keeping: true)
  }
}

/// A file of people.
final class FilePlace: Place {
  let folder: TemporaryFolder
  private let files: TemporaryFolder
  private var yaml = ""

  init() throws {
    folder = try TemporaryFolder()
    files = try TemporaryFolder()
    try setPeople(3, [])
  }

  func directory(_ observer: Observer, keeping: Bool) throws -> any Directory {
    try make("people.yaml", observer, keeping: keeping)
  }

  func otherDirectory(_ observer: Observer) throws -> any Directory {
    try make("others.yaml", observer, keeping: true)
  }

  private func make(_ name: String, _ observer: Observer, keeping: Bool) throws -> LocalDirectory {
    try LocalDirectory(
      file: files[name], mayBeMissing: false, folder: keeping ? folder.path : nil,
      pollMilliseconds: 20, report: observer.report)
  }

  func setPeople(_ count: Int, _ logins: [String]) throws {
    yaml = (0..<count).map { index in
      let login = index < logins.count ? logins[index] : "Person-\(four(index + 1))"
      return "- { user: \"\(login)\", name: \"The \(login)\" }\n"
    }.joined()
    try repair()
  }

  func breakDown() throws { try files.write("- { user: [\n", to: "people.yaml") }
  func repair() throws { try files.write(yaml, to: "people.yaml") }
  func user(_ number: Int) -> String { "person-\(four(number))" }
}

/// GitHub or X.
final class ServicePlace: Place {
  let folder: TemporaryFolder
  let service: FakeService
  var options = RemoteDirectory.Options()
  private let conformer: Conformer

  init(_ conformer: Conformer = .gitHub) throws {
    self.conformer = conformer
    folder = try TemporaryFolder()
    service = try FakeService()
    options.refreshMilliseconds = 200
    options.retryMilliseconds = 100...200
    options.unknownLimitMilliseconds = 500...2000
    options.limitSlackMilliseconds = 50
  }

  func directory(_ observer: Observer, keeping: Bool) throws -> any Directory {
    try make(conformer == .gitHub ? "org:acme" : "rust", observer, keeping: keeping)
  }

  func otherDirectory(_ observer: Observer) throws -> any Directory {
    try make(conformer == .gitHub ? "org:nobody" : "nobody", observer, keeping: true)
  }

  /// - Parameters:
  ///   - source: for GitHub as in a configuration, for X an account.
  func make(
    _ source: String, _ observer: Observer, token: TokenSource = .none, secret: String = "s/ecret",
    keeping: Bool = true
  ) throws -> RemoteDirectory {
    var options = options
    options.folder = keeping ? folder.path : nil
    guard conformer != .gitHub else {
      let source = try #require(GitHubSource(source))
      return try .gitHub(
        source, baseURL: service.url, token: token, options: options, report: observer.report)
    }
    return try .x(
      followersOf: source, version: conformer == .x ? .v2 : .v1, baseURL: service.url, key: "key",
      secret: secret, options: options, report: observer.report)
  }

  func setPeople(_ count: Int, _ logins: [String]) throws {
    let list = logins.map { "\"\($0)\"" }.joined(separator: ",")
    try service.control("{\"people\":\(count),\"logins\":[\(list)]}")
  }

  func breakDown() throws {
    let broken = #"{"path":"/","status":502,"body":"<html>Bad gateway</html>"}"#
    let many = Array(repeating: broken, count: 10_000).joined(separator: ",")
    try service.control("{\"instead\":[\(many)]}")
  }

  func repair() throws { try service.control(#"{"instead":[]}"#) }

  func user(_ number: Int) -> String {
    conformer == .gitHub ? "person-\(four(number))" : "person_\(four(number))"
  }
}

/// A suite that reads people from a GitHub of its own.
protocol GitHubSuite {
  var place: ServicePlace { get }
  var observer: Observer { get }
}

extension GitHubSuite {
  var service: FakeService { place.service }

  /// Returns a GitHub that is sent no request without a reason.
  static func gitHub() throws -> (ServicePlace, Observer) {
    let place = try ServicePlace(.gitHub)
    place.options.refreshMilliseconds = 3_600_000
    return (place, try Observer())
  }

  func start(
    _ source: String = "org:acme", token: TokenSource = .none
  ) throws -> RemoteDirectory {
    try observer.start(place.make(source, observer, token: token))
  }
}

/// Four digits.
func four(_ number: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
