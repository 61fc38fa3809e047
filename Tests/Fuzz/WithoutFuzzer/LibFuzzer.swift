import Glibc

/// Stands in for libFuzzer, which only a build with `FUZZING` links: so every build compiles the
/// command, and finds errors in it.
@_cdecl("LLVMFuzzerRunDriver")
public func runFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt {
  let message = Array("fuzz: built without libFuzzer; `make fuzz` builds it with\n".utf8)
  _ = unsafe write(STDERR_FILENO, message, message.count)
  return 2
}
