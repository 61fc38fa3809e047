/// A module, with `import` and `export` taken from its tokens.
///
/// It imports names in braces, or nothing but what a module does. It exports names in braces, or a
/// function, a class or a constant where that is declared.
struct Module {
  /// `name as alias`
  struct Name {
    var name: String
    var alias: String

    init(_ words: ArraySlice<Token>) {
      name = words.first?.text ?? ""
      alias = words.last?.text ?? ""
    }

    init(_ name: String) { (self.name, alias) = (name, name) }
  }

  struct Import {
    var names: [Name]
    /// Relative to the page: "relay-client/room.js".
    var module: String
  }

  private(set) var imports: [Import] = []
  private(set) var exports: [Name] = []
  /// The modules that `import("./…")` loads, by the places of these texts in `body`.
  private(set) var later: [Int: String] = [:]
  private(set) var body: [Token] = []
  /// Whether it uses `import.meta`, so that its folder matters.
  private(set) var usesAddress = false

  init(_ script: String, named name: String) throws(BundlingError) {
    var rest = try Scanner.tokens(of: script)[...]
    var depth = 0
    while let token = rest.first {
      let next = rest.dropFirst().first
      if depth == 0, token.text == "import", next?.text == "{" || next?.kind == .string {
        try read(Self.takeStatement(from: &rest), in: name)
        continue
      }
      if depth == 0, token.text == "export" {
        if next?.text == "{" {
          try read(Self.takeStatement(from: &rest), in: name)
        } else {
          rest.removeFirst()
          exports.append(try Self.declaredName(rest))
        }
        continue
      }
      if token.text == "import", next?.text == "(", let text = rest.dropFirst(2).first?.text,
        text.hasPrefix("\".")
      {
        later[body.count + 2] = Self.resolve(text, in: name)
      } else if token.text == "import", next?.text == "." {
        usesAddress = true
      } else if token.text == "import", next?.text != "(" {
        throw BundlingError("an import without braces")
      }
      switch token.kind {
      case .punctuation where "([{".contains(token.text): depth += 1
      case .punctuation where ")]}".contains(token.text): depth -= 1
      case .template:
        if token.text.hasPrefix("}") { depth -= 1 }
        if token.text.hasSuffix("${") { depth += 1 }
      default: break
      }
      body.append(token)
      rest.removeFirst()
    }
    body = Minified.withShortNames(body)
  }

  private static func takeStatement(from rest: inout ArraySlice<Token>) -> ArraySlice<Token> {
    let end = rest.firstIndex { $0.text == ";" } ?? rest.endIndex
    defer { rest = rest[end...].dropFirst() }
    return rest[..<end]
  }

  /// Reads `import { a, b as c } from "./x.js"`, `import "./x.js"`, and the same with `export`.
  private mutating func read(_ statement: ArraySlice<Token>, in module: String)
    throws(BundlingError)
  {
    let names = statement.drop { $0.text != "{" }.dropFirst().prefix { $0.text != "}" }
      .split { $0.text == "," }.map(Name.init)
    let isExport = statement.first?.text == "export"
    if let last = statement.last, last.kind == .string {
      imports.append(Import(names: names, module: Self.resolve(last.text, in: module)))
      if isExport { exports += names.map { Name($0.alias) } }
    } else if isExport {
      exports += names
    }
  }

  /// The name in `async function* f(`, `class C extends D`, `const c =`.
  private static func declaredName(_ rest: ArraySlice<Token>) throws(BundlingError) -> Name {
    let name = rest.drop { ["async", "function", "*", "class", "const"].contains($0.text) }.first
    guard rest.first?.text != "*", let name, name != rest.first, name.kind == .word else {
      throw BundlingError("an export that is no function, class or constant")
    }
    return Name(name.text)
  }

  /// Returns a module's name, where another one calls it `"./x.js"`.
  private static func resolve(_ text: String, in name: String) -> String {
    var parts = name.split(separator: "/").dropLast()
    for part in text.dropFirst().dropLast().split(separator: "/") where part != "." {
      if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }
}
