internal import Glibc
internal import Platform

/// Our broadcast server for uWebSockets, compiled with a copy of that library that the caller has.
///
/// The library is not a package of Debian, and its code is not part of this project.
struct LibraryServer {
  /// The folder of the library, with its uSockets.
  var library: String
  /// `uwebsockets.cpp`.
  var source: String
  /// The folder for the program and for what the compilers print.
  var built: String

  /// The flags of the library's own build, with OpenSSL and without compression.
  private static let flags = ["-O3", "-march=native", "-flto=auto", "-DLIBUS_USE_OPENSSL"]
  private static let name = "uwebsockets"
  private static let outputLimitBytes = 200

  var program: String { "\(built)/\(Self.name)" }

  /// Compiles the program, always anew: the library may have changed. Blocks for some seconds.
  func compile() throws(Bench.Failure) {
    unsafe unlink(program)
    for (file, advice) in [
      ("src/App.h", "git clone --recurse-submodules brings it"),
      ("uSockets/src/libusockets.h", "git submodule update --init uSockets brings it"),
    ] where unsafe access("\(library)/\(file)", R_OK) != 0 {
      throw Bench.Failure(
        description: "\(library) is not a checkout of uWebSockets: it has no \(file); \(advice)",
        isUsage: true)
    }
    let log = "\(built)/\(Self.name).log"
    unsafe unlink(log)
    let folder: String
    let sources: [String]
    do {
      folder = try Folder.makeTemporary("\(built)/\(Self.name)")
      sources = try cSources()
    } catch {
      throw Bench.Failure(description: "cannot compile uWebSockets: \(error)")
    }
    defer { Folder.remove(folder) }
    var objects: [String] = []
    for (number, source) in sources.enumerated() {
      objects.append("\(folder)/\(number).o")
      let language = source.hasSuffix(".c") ? ["cc", "-std=c11"] : ["c++", "-std=c++2b"]
      try run(
        language + Self.flags
          + ["-I\(library)/uSockets/src", "-c", source, "-o", objects[number]], log)
    }
    try run(
      ["c++"] + Self.flags
        + [
          "-std=c++2b", "-DUWS_NO_ZLIB", "-I\(library)/src", "-I\(library)/uSockets/src", source,
        ] + objects + ["-lssl", "-lcrypto", "-o", program], log)
    unsafe unlink(log)
  }

  /// The files of uSockets, as its own Makefile lists them: in C, but for one.
  private func cSources() throws(SystemError) -> [String] {
    var files: [String] = []
    for folder in ["src", "src/eventing", "src/crypto", "src/io_uring"] {
      let path = "\(library)/uSockets/\(folder)"
      // Older versions lack some of the folders.
      guard unsafe access(path, R_OK) == 0 else { continue }
      files += try Folder.entries(of: path).filter {
        $0.name.hasSuffix(".c") || $0.name == "sni_tree.cpp"
      }
      .map { "\(path)/\($0.name)" }
    }
    return files
  }

  private func run(_ words: [String], _ log: String) throws(Bench.Failure) {
    let outcome: ChildProgram.Outcome
    do throws(SystemError) {
      let id = try ChildProgram.start(
        words, input: .null, output: .appending(log), errors: .appending(log))
      outcome = ChildProgram.wait(for: id)
    } catch {
      throw Bench.Failure(description: "cannot compile uWebSockets: \(error)")
    }
    guard outcome != .exit(0) else { return }
    let lines = String(decoding: (try? TextFile.read(log)) ?? [], as: UTF8.self)
      .split(separator: "\n")
    let line = lines.first { $0.contains("error") } ?? lines.first ?? "\(outcome)"
    throw Bench.Failure(
      description: "cannot compile \(source) with the uWebSockets in \(library):"
        + " \(line.prefix(Self.outputLimitBytes)); all that \(words[0]) printed is in \(log)",
      isUsage: true)
  }
}

/// The runs of the library's server, which is measured in turn with floor and relay.
struct LibraryRuns {
  private var server: BenchServer?
  private var peer = BenchRow.Peer(name: BenchRow.libraryName, figure: nil)

  /// - Parameter start: Starts the server. If that fails, the peer says why.
  init(_ start: () throws -> BenchServer) {
    do {
      server = try start()
    } catch {
      peer.note = "\(error)"
    }
  }

  /// Adds a run. After a run that throws there are no more.
  mutating func add(_ measure: (BenchServer) throws -> (figure: Double, fault: String?)) {
    guard let server else { return }
    do {
      let run = try measure(server)
      peer.runs.append(run.figure)
      if let fault = run.fault { peer.note = fault }
    } catch {
      peer.note = "\(error)"
      peer.runs = []
      stop()
    }
  }

  /// Prepares it for the first run, without counting.
  mutating func warmUp(_ prepare: (BenchServer) throws -> Void) {
    guard let server else { return }
    do {
      try prepare(server)
    } catch {
      peer.note = "\(error)"
      stop()
    }
  }

  /// Stops the server, and returns the runs and their median.
  mutating func end() -> BenchRow.Peer {
    stop()
    peer.figure = BenchRow.median(peer.runs)
    return peer
  }

  private mutating func stop() {
    server?.stop()
    server = nil
  }
}
