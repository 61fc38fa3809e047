internal import Glibc
public import Platform
public import Relay
internal import Synchronization

/// People from a file, which is read again when it changes.
///
/// What is wrong with the file leaves the last good list in place, and is reported with its line.
/// With a folder, that list outlives the process. Who has been corrected in the file is seen within
/// `pollMilliseconds`: the file is looked at on a thread of its own.
///
/// `start` is to be called once, `stop` not from within `publish`.
public final class LocalDirectory: Directory {
  /// Where the file is, clients need not know.
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
  ///   - mayBeMissing: then a file that is not there is an empty list, and not a problem.
  ///   - folder: an existing one for what outlives the process; `nil` keeps nothing.
  ///   - report: told what is wrong with the file, a sentence with its line; on the directory's
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

  /// What is wrong with a file, and who would be left out, a sentence each; blocks.
  public static func check(file path: String, mayBeMissing: Bool) -> (
    wrong: [String], remarks: [String]
  ) {
    do throws(PeopleFile.Failure) {
      return ([], try PeopleFile.read(path).remarks)
    } catch {
      return (error.isMissing && mayBeMissing ? [] : error.sentences, [])
    }
  }

  // MARK: - On its thread

  private func watch(_ publish: (DirectoryUpdate) -> Void) {
    let identity = "local \(path)"
    var state = store?.readState(of: identity) ?? DirectoryState(identity: identity)
    publish(DirectoryUpdate(people: people(state)))
    var seen: FileStamp?
    while !stopSignal.isRaised {
      let stamp = FileStamp(path)
      if stamp != seen {
        // Taken before the file is read: a change in between is seen the next time.
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
        error.line.map { "The list of people has a mistake in line \($0)." }
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

/// What changes with a file: which one it is, how long, and when it was written.
private struct FileStamp: Equatable {
  private var device: UInt = 0
  private var inode: UInt = 0
  private var bytes = 0
  private var seconds = 0
  private var nanoseconds = 0

  /// Of a file that is not there, all is zero.
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
