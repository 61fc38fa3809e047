import Glibc

/// The process's environment (`environ(7)`).
enum Environment {
  static var variables: [String: String] {
    var variables: [String: String] = [:]
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      unsafe next = next.advanced(by: 1)
    }
    return variables
  }
}
