import TestSupport

/// The modules of Sources and swarm, as Package.swift declares them.
enum Manifest {
  struct Module {
    /// The folder, below Sources or LoadTests: "Engine/Relay".
    var folder: String
    var name: String
    /// The dependencies, each by the name that it is imported by.
    var dependencies: Set<String>

    /// The layer of the architecture, or "swarm".
    var layer: Substring { folder.prefix { $0 != "/" } }
  }

  static let modules: [Module] = {
    guard let text = try? readFile(Project["Package.swift"]) else { return [] }
    let products = text.matches(
      of: /let (\w+): Target\.Dependency =\s+\.product\(name: "(\w+)"/
    ).map { (String($0.1), String($0.2)) }
    let names = Dictionary(uniqueKeysWithValues: products)
    // Each declaration reaches to the next one. Its first array is that of the dependencies.
    let starts = text.matches(
      of: /\n    (Layer\.\w+\.module|command|\.executableTarget|\.target)\(/)
    return zip(starts, starts.dropFirst().map(\.range.lowerBound) + [text.endIndex]).compactMap {
      start, end in
      let declaration = text[start.range.lowerBound..<end]
      guard let name = declaration.firstMatch(of: /"(\w+)"/)?.1,
        let folder = folder(of: declaration, name)
      else { return nil }
      let words = declaration.drop { $0 != "[" }.prefix { $0 != "]" }.matches(of: /\w+/)
      return Module(
        folder: folder, name: String(name),
        dependencies: Set(words.map { names[String($0.0)] ?? String($0.0) }))
    }
  }()

  private static func folder(of declaration: Substring, _ name: Substring) -> String? {
    if let layer = declaration.firstMatch(of: /^\n    Layer\.(\w+)\.module/)?.1 {
      return "\(layer.prefix(1).uppercased())\(layer.dropFirst())/\(name)"
    }
    if let command = declaration.firstMatch(of: /Layer\.commands\.folder\("(\w+)"/)?.1 {
      return "Commands/\(command)"
    }
    if declaration.contains("path: \"Sources/Web\"") { return "Web/Bundler" }
    return declaration.firstMatch(of: /"LoadTests\/(swarm\/\w+)"/).map { String($0.1) }
  }
}
