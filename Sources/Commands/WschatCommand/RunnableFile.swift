import Glibc

/// Tells which files may be programs, so that opening one may run it: by the name, and by the first
/// bytes, since a file manager goes by either.
enum RunnableFile {
  private static let endings: Set<String> = [
    "appimage", "bash", "bat", "bin", "cmd", "com", "cpl", "csh", "deb", "desktop", "exe", "fish",
    "flatpakref", "hta", "jar", "jnlp", "js", "jse", "ksh", "lnk", "lua", "msi", "msix", "php",
    "pif",
    "pl", "ps1", "py", "pyc", "pyw", "pyz", "rb", "reg", "rpm", "run", "scpt", "scr", "sh", "snap",
    "service", "tcl", "url", "vb", "vbe", "vbs", "wsf", "wsh", "zsh",
  ]
  /// Of scripts, ELF, DOS and Windows, Java classes, and launchers of a desktop.
  private static let starts: [[UInt8]] = [
    Array("#!".utf8), [0x7F] + Array("ELF".utf8), Array("MZ".utf8), [0xCA, 0xFE, 0xBA, 0xBE],
    Array("[Desktop Entry]".utf8),
  ]
  private static let startBytes = 512

  static func isOne(_ path: String) -> Bool {
    let name = path.split(separator: "/").last ?? ""
    if let dot = name.lastIndex(of: "."), endings.contains(name[dot...].dropFirst().lowercased()) {
      return true
    }
    let head = start(of: path)
    // A launcher may begin with comments.
    return starts.contains { head.starts(with: $0) }
      || String(decoding: head, as: UTF8.self).contains("[Desktop Entry]")
  }

  private static func start(of path: String) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return unsafe [UInt8](unsafeUninitializedCapacity: startBytes) { buffer, count in
      count = unsafe max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
  }
}
