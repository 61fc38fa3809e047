/// Combines the modules that a page needs at once into one file.
///
/// A browser requests each module by itself, and each is compressed by itself: a first visit took 40
/// requests and a quarter more bytes. Here each module becomes a function that returns what it exports,
/// and the modules that are loaded later import from the combined file, so that each module runs once.
///
/// The modules are written so that their lines suffice to read them: `import` and `export` begin a
/// line, and what is exported is a `const`, a `function` or a `class`, or is exported from another module.
struct WebModules {
  /// A module, with `import` and `export` taken from its text.
  private struct Module {
    var imports: [Import] = []
    /// What it exports: names of its own.
    var exports: [Substring] = []
    var body = ""
  }

  /// An import of names, which may be empty: then the module is to run before.
  private struct Import {
    var names: [(name: Substring, alias: Substring)]
    var module: String
  }

  /// The name of the combined file.
  static let combinedName = "modules.js"

  private var modules: [String: Module] = [:]
  /// The modules of the combined file, each after those that it imports.
  private var order: [String] = []
  /// What each module of the combined file is called there.
  private var variables: [String: String] = [:]

  /// - Parameter entry: what it imports, directly or not, is combined. It remains a file of its own.
  init(_ sources: [(name: String, text: String)], entry: String) {
    for (name, text) in sources { modules[name] = Self.module(name, text) }
    var visited: Set = [entry]
    for one in modules[entry]?.imports ?? [] { visit(one.module, &visited) }
    for (index, name) in order.enumerated() { variables[name] = "m\(index)" }
  }

  private mutating func visit(_ name: String, _ visited: inout Set<String>) {
    guard visited.insert(name).inserted, let module = modules[name] else { return }
    for one in module.imports { visit(one.module, &visited) }
    order.append(name)
  }

  /// Whether a module is part of the combined file, and no file of its own.
  func isCombined(_ name: String) -> Bool { variables[name] != nil }

  /// The combined file; `nil` if the entry imports nothing.
  var combined: String? {
    if order.isEmpty { return nil }
    var text = ""
    for name in order {
      guard let module = modules[name], let variable = variables[name] else { continue }
      text += "const \(variable) = await (async () => {\n"
      for one in module.imports {
        guard let variable = variables[one.module], !one.names.isEmpty else { continue }
        text += Self.taking(one.names, from: variable)
      }
      // The combined file is not in the module's folder.
      text += module.body.replacing("import(\"./", with: "import(\"./\(Self.folder(name))")
      text += "return { \(module.exports.joined(separator: ", ")) };\n})();\n"
    }
    return text + "export { \(order.compactMap { variables[$0] }.joined(separator: ", ")) };\n"
  }

  /// The text of a module that is a file of its own.
  func text(_ name: String) -> String {
    guard let module = modules[name] else { return "" }
    let parents = Self.folder(name).split(separator: "/").map { _ in "../" }.joined()
    let path = parents.isEmpty ? "./" : parents
    var text = ""
    for one in module.imports {
      guard let variable = variables[one.module] else {
        let names = one.names.map { $0.name == $0.alias ? $0.name : "\($0.name) as \($0.alias)" }
        let list = names.isEmpty ? "" : "{ \(names.joined(separator: ", ")) } from "
        text += "import \(list)\"\(path)\(one.module)\";\n"
        continue
      }
      text += "import { \(variable) } from \"\(path)\(Self.combinedName)\";\n"
      if !one.names.isEmpty { text += Self.taking(one.names, from: variable) }
    }
    text += module.body
    if !module.exports.isEmpty {
      text += "export { \(module.exports.joined(separator: ", ")) };\n"
    }
    return text
  }

  // MARK: - Reading

  private static func module(_ name: String, _ text: String) -> Module {
    var module = Module()
    var statement = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
      // A list of names may have several lines.
      if !statement.isEmpty || line.hasPrefix("import {") || line.hasPrefix("import \"")
        || line.hasPrefix("export {")
      {
        statement += line
        if line.hasSuffix(";") {
          read(statement, in: name, into: &module)
          statement = ""
        }
      } else if line.hasPrefix("export ") {
        let declaration = line.dropFirst("export ".count)
        module.exports.append(declaredName(declaration))
        module.body += declaration + "\n"
      } else {
        module.body += line + "\n"
      }
    }
    return module
  }

  /// Reads `import { a, b as c } from "./x.js";`, `import "./x.js";` or the same with `export`.
  private static func read(_ statement: String, in name: String, into module: inout Module) {
    let isExport = statement.hasPrefix("export")
    let list = statement.drop { $0 != "{" }.dropFirst().prefix { $0 != "}" }
    let names = list.split(separator: ",").compactMap { part in
      let words = part.split(separator: " ")
      return words.first.flatMap { first in words.last.map { (name: first, alias: $0) } }
    }
    let quoted = statement.split(separator: "\"", omittingEmptySubsequences: false)
    if quoted.count == 3 {
      module.imports.append(Import(names: names, module: resolve(quoted[1], in: name)))
    }
    if isExport { module.exports += names.map(\.alias) }
  }

  /// The name in `async function f(`, `class C extends D`, `const c =`.
  private static func declaredName(_ declaration: Substring) -> Substring {
    let keywords = ["async", "function", "function*", "class", "const"]
    let word = declaration.split(separator: " ").first { !keywords.contains(String($0)) } ?? ""
    return word.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
  }

  /// `relay-client/` of `relay-client/room.js`.
  private static func folder(_ name: String) -> String {
    name.split(separator: "/").dropLast().map { "\($0)/" }.joined()
  }

  private static func resolve(_ path: Substring, in name: String) -> String {
    var parts = name.split(separator: "/").dropLast()
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  private static func taking(
    _ names: [(name: Substring, alias: Substring)], from variable: String
  ) -> String {
    let list = names.map { $0.name == $0.alias ? String($0.name) : "\($0.name): \($0.alias)" }
    return "const { \(list.joined(separator: ", ")) } = \(variable);\n"
  }
}
