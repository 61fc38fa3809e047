import Glibc
import Platform

// SandboxProbe ACTION: enters the sandbox, acts, and prints "survived". Descriptor 3 is a file.

let action = CommandLine.arguments.last ?? ""
do throws(SystemError) {
  try Sandbox(memoryLimitBytes: 512 << 20, fileLimitBytes: 1 << 20, processorLimitSeconds: 1)
    .enter()
} catch {
  StandardError.write("\(error)\n")
  exit(1)
}

let anonymous = MAP_PRIVATE | MAP_ANONYMOUS
switch action {
case "nothing": break
case "open": _ = unsafe open("/dev/null", O_RDONLY)
case "remove": _ = unsafe unlink("/nothing")
case "connect": _ = socket(AF_INET, 1, 0)
case "start": _ = try? ChildProgram.start(["/bin/true"])
case "execute": _ = unsafe execv("/bin/true", [nil])
case "signal": _ = kill(1, 0)
case "code": _ = unsafe mmap(nil, 4096, PROT_READ | PROT_EXEC, anonymous, -1, 0)
case "become code":
  let memory = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, anonymous, -1, 0)
  _ = unsafe mprotect(memory, 4096, PROT_READ | PROT_EXEC)
case "memory":
  guard unsafe malloc(600 << 20) == nil else { exit(2) }
case "write": _ = WholeFile.write([UInt8](repeating: 0, count: 2 << 20).span, to: 3)
case "compute":
  var count: UInt64 = 0
  while action != "\(count)" { count &+= 1 }
default: exit(3)
}
StandardOutput.write("survived")
