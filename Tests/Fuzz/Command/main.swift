import FuzzTargets
import Glibc

/// libFuzzer, called instead of taking the `main` of the program ("Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Set once, before anything runs.
nonisolated(unsafe) private var target = FuzzTarget.frames

private func report(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
}

let names = FuzzTarget.allCases.map(\.rawValue)
let named = CommandLine.arguments.dropFirst().first.flatMap { FuzzTarget(rawValue: $0) }
// libFuzzer starts this program again for -merge and -jobs, and knows nothing of the target's name.
let inherited = unsafe getenv("FUZZ_TARGET")
  .flatMap { unsafe FuzzTarget(rawValue: String(cString: $0)) }
guard let chosen = named ?? inherited else {
  if CommandLine.arguments.dropFirst() == ["--list"] {
    print(names.joined(separator: "\n"))
    exit(0)
  }
  report("usage: fuzz --list | fuzz TARGET [FILE | FOLDER | -OPTION=VALUE of libFuzzer]...")
  report("targets: \(names.joined(separator: " "))")
  exit(2)
}
unsafe target = chosen
unsafe setenv("FUZZ_TARGET", chosen.rawValue, 1)

// The target's name is left out of what libFuzzer gets to see.
let skipped = named == nil ? 0 : 1
var count = CommandLine.argc - CInt(skipped)
var arguments = unsafe CommandLine.unsafeArgv + skipped
unsafe arguments[0] = CommandLine.unsafeArgv[0]
let status = unsafe runFuzzer(&count, &arguments) { bytes, count in
  let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  do throws(FuzzFinding) {
    try unsafe target.check(input)
  } catch {
    report("\(unsafe target.rawValue): \(error)")
    abort()
  }
  return 0
}
exit(status)
