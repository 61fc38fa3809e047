internal import Glibc
public import Platform
public import Relay
internal import Synchronization

/// A directory that reads people from a file, and reads it again when it changes.
///
/// If the file is invalid, the last valid list stays in use, and the errors are reported with their
/// lines. With a folder, that list survives a restart. Changes are picked up within
/// `pollMilliseconds`: a separate thread polls the file.
///
/// `start` must be called once; `stop` must not be called from `publish`.
public final class LocalDirectory: Directory {
  /// Clients are not told the file's path.
  private static let source = "local"

  private let path: String
  private let mayBeMissing: Bool
  private let pollMilliseconds: Int64
  private let store: DirectoryStore?
  private let report: @Sendable (String) -> Void
  private let stopSignal: StopSignal
  private let thread = Mutex<WorkerThread?>(nil)

  /// - Parameters:
  ///   - path: a YAML list of `user`, `name` and `avatar`.
  ///   - mayBeMissing: whether a missing file is an empty list instead of an error.
  ///   - folder: an existing folder for persistent state; `nil` persists nothing.
  ///   - report: receives the errors of the file, a sentence with the line each; on the directory's
  ///     thread.
  public init(
    file path: String, mayBeMissing: Bool, folder: String? = nil, pollMilliseconds: Int64 = 1000,
    report: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    self.path = path
    self.mayBeMissing = mayBeMissing
    self.pollMilliseconds = pollMilliseconds
    self.report = report
    store = folder.map { DirectoryStore(folder: $0, report: report) }
    stopSignal = try StopSignal()
  }

  public func start(publish: @escaping @Sendable (DirectoryUpdate) -> Void) {
    do throws(SystemError) {
      let thread = try WorkerThread(name: "directory") { [self] in watch(publish) }
      self.thread.withLock { $0 = thread }
    } catch {
      report("The directory cannot start: \(error).")
      publish(
        DirectoryUpdate(
          people: PeopleList([], source: Self.source, asOf: 0),
          problem: .failed("The directory cannot start.", support: nil)))
    }
  }

  public func stop() {
    stopSignal.raise()
    thread.withLock { $0.take() }?.join()
  }

  /// Checks a file: returns its errors and the people that would be skipped, a sentence each.
  /// Blocks.
  public static func check(file path: String, mayBeMissing: Bool) -> (
    wrong: [String], remarks: [String]
  ) {
    do throws(PeopleFile.Failure) {
      return ([], try PeopleFile.read(path).remarks)
    } catch {
      return (error.isMissing && mayBeMissing ? [] : error.sentences, [])
    }
  }

  // MARK: - The directory's thread

  private func watch(_ publish: (DirectoryUpdate) -> Void) {
    let identity = "local \(path)"
    var state = store?.readState(of: identity) ?? DirectoryState(identity: identity)
    publish(DirectoryUpdate(people: people(state)))
    var seen: FileStamp?
    while !stopSignal.isRaised {
      let stamp = FileStamp(path)
      if stamp != seen {
        // Taken before the file is read: a change during the read is picked up by the next poll.
        seen = stamp
        publish(read(into: &state))
      }
      stopSignal.wait(milliseconds: pollMilliseconds)
    }
  }

  private func read(into state: inout DirectoryState) -> DirectoryUpdate {
    do throws(PeopleFile.Failure) {
      let file: PeopleFile
      do throws(PeopleFile.Failure) {
        file = try PeopleFile.read(path)
      } catch {
        guard error.isMissing, mayBeMissing else { throw error }
        file = PeopleFile()
      }
      file.remarks.forEach(report)
      var page = Page(url: path)
      page.listing = file.listing
      state.pages = [page]
      state.asOf = WallClock.milliseconds
      store?.write(state)
      return DirectoryUpdate(people: people(state))
    } catch {
      error.sentences.forEach(report)
      let text =
        error.line.map { "The list of people has an error in line \($0)." }
        ?? "The list of people cannot be read."
      return DirectoryUpdate(people: people(state), problem: .failed(text, support: nil))
    }
  }

  private func people(_ state: DirectoryState) -> PeopleList {
    let listing = state.listing
    return PeopleList(
      listing.people, source: Self.source, asOf: state.asOf, leftOut: listing.leftOut)
  }
}

/// The identity, size and modification time of a file.
private struct FileStamp: Equatable {
  private var device: UInt = 0
  private var inode: UInt = 0
  private var bytes = 0
  private var seconds = 0
  private var nanoseconds = 0

  /// All fields are zero if the file does not exist.
  init(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return }
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
    bytes = Int(status.st_size)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
