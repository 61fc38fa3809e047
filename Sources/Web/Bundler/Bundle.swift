/// The scripts of a page, with those that it needs at once in one file.
///
/// A browser requests each module by itself, and each is compressed by itself: a first visit took 40
/// requests and a quarter more bytes. Here each module becomes a function that returns what it exports,
/// and the modules that are loaded later import from the combined file, so that each module runs once.
struct Bundle {
  /// The name of the combined file.
  static let combinedName = "modules.js"

  private var modules: [String: Module] = [:]
  /// The modules of the combined file, each after those that it imports.
  private var combined: [String] = []
  /// What each module of the combined file is called there.
  private var variables: [String: String] = [:]

  /// - Parameters:
  ///   - entry: what it imports, directly or not, is combined. It remains a file of its own.
  ///   - others: further modules that a browser loads by their names.
  ///   - sources: the modules by their names.
  init(entry: String, others: [String], sources: [String: String]) throws(BundlingError) {
    var waiting = ([entry] + others).map { (name: $0, importer: "the page") }
    while let (name, importer) = waiting.popLast() {
      guard modules[name] == nil else { continue }
      guard let source = sources[name] else {
        throw BundlingError("\(importer): imports \(name), which is no file")
      }
      do throws(BundlingError) {
        let module = try Module(source, named: name)
        modules[name] = module
        waiting += (module.imports.map(\.module) + module.later.values).map { ($0, name) }
      } catch {
        throw BundlingError("\(name): \(error)")
      }
    }
    var visited: Set = [entry]
    for one in modules[entry]?.imports ?? [] { visit(one.module, &visited) }
    for (index, name) in combined.enumerated() { variables[name] = "m\(index)" }
    for (name, module) in modules {
      for later in module.later.values where variables[later] != nil {
        throw BundlingError("\(name): loads \(later) later, which the page needs at once")
      }
      if module.usesAddress, variables[name] != nil, name.contains("/") {
        throw BundlingError(
          "\(name): import.meta would be that of \(Self.combinedName), in another folder")
      }
    }
  }

  private mutating func visit(_ name: String, _ visited: inout Set<String>) {
    guard visited.insert(name).inserted, let module = modules[name] else { return }
    for one in module.imports { visit(one.module, &visited) }
    combined.append(name)
  }

  /// The finished files, in the order of their names.
  var files: [(name: String, text: String)] {
    var files: [(name: String, text: String)] = []
    if !combined.isEmpty { files.append((Self.combinedName, combinedText)) }
    for (name, module) in modules where variables[name] == nil {
      files.append((name, text(of: module, named: name)))
    }
    return files.sorted { $0.name < $1.name }
  }

  private var combinedText: String {
    var text = ""
    for name in combined {
      guard let module = modules[name], let variable = variables[name] else { continue }
      text += "const \(variable)=await(async()=>{\(declarations(for: module))"
      text += Minified.script(body(of: module, root: "./"))
      text += "return{\(Self.list(module.exports, ":", reversed: true))}})();\n"
    }
    return text + "export{\(combined.compactMap { variables[$0] }.joined(separator: ","))};\n"
  }

  /// The text of a module that is a file of its own. Imports begin a line each.
  private func text(of module: Module, named name: String) -> String {
    let parents = name.split(separator: "/").dropLast().map { _ in "../" }.joined()
    let root = parents.isEmpty ? "./" : parents
    let needed = Set(module.imports.compactMap { variables[$0.module] }).sorted()
    var text =
      needed.isEmpty
      ? "" : "import{\(needed.joined(separator: ","))}from\"\(root)\(Self.combinedName)\";\n"
    for one in module.imports where variables[one.module] == nil {
      let list = one.names.isEmpty ? "" : "{\(Self.list(one.names, " as "))}from"
      text += "import\(list)\"\(root)\(one.module)\";\n"
    }
    text += declarations(for: module) + Minified.script(body(of: module, root: root))
    if !module.exports.isEmpty { text += "export{\(Self.list(module.exports, " as "))};" }
    return text + "\n"
  }

  /// Declares what a module imports from modules of the combined file.
  private func declarations(for module: Module) -> String {
    module.imports.map { one in
      guard let variable = variables[one.module], !one.names.isEmpty else { return "" }
      return "const{\(Self.list(one.names, ":"))}=\(variable);"
    }.joined()
  }

  /// A module's statements in a file of another folder.
  private func body(of module: Module, root: String) -> [Token] {
    var body = module.body
    for (place, name) in module.later { body[place].text = "\"\(root)\(name)\"" }
    return body
  }

  /// - Parameter reversed: whether the alias is to be first.
  private static func list(_ names: [Module.Name], _ separator: String, reversed: Bool = false)
    -> String
  {
    names.map { one in
      if one.name == one.alias { return one.name }
      return reversed
        ? "\(one.alias)\(separator)\(one.name)" : "\(one.name)\(separator)\(one.alias)"
    }.joined(separator: ",")
  }
}
