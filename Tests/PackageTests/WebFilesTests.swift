import TestSupport
import Testing

/// The files of the web page, which a C file embeds by name.
@Suite struct `Embedded files` {
  private static let library = "relay-client/"

  /// The names in the table of the C file.
  private func embedded() throws -> [String] {
    let lines = try SourceFile(path: Project["Sources/Web/CWeb/CWeb.c"]).lines()
    let names = lines.compactMap { line in
      line.hasPrefix("    {\"") ? String(line.dropFirst(6).prefix { $0 != "\"" }) : nil
    }
    for name in names {
      let path = name.hasPrefix(Self.library) ? "../../JavaScript/\(name)" : "../page/\(name)"
      #expect(lines.contains("#embed \"\(path)\""), "\(name)")
    }
    return names
  }

  private func source(_ name: String) throws -> String {
    let folder = name.hasPrefix(Self.library) ? "Sources/JavaScript" : "Sources/Web/page"
    return try readFile(Project["\(folder)/\(name)"])
  }

  @Test func `are all files of the page`() throws {
    let names = try embedded()
    for name in Folder.package.folder("Sources/Web/page").fileNames {
      #expect(names.contains(name), "\(name)")
    }
  }

  @Test func `are all modules that another one imports`() throws {
    let names = try embedded()
    var imports = 0
    for name in names where name.hasSuffix(".js") {
      let folder = name.hasPrefix(Self.library) ? Self.library : ""
      // Types are imported in comments.
      for line in try source(name).split(separator: "\n") where !line.contains("@") {
        guard line.contains("import") || line.hasPrefix("export ") || line.hasPrefix("} from "),
          let part = line.split(separator: "\"./").dropFirst().first
        else { continue }
        let imported = part.prefix { $0 != "\"" }
        guard !imported.hasPrefix("web/") else { continue }  // of embed.js, with the version
        #expect(names.contains("\(folder)\(imported)"), "\(name) imports \(imported)")
        imports += 1
      }
    }
    #expect(imports > 20)
  }

  /// `WebModules` combines what the page needs at once into one file, which the page preloads.
  @Test func `are written so that the relay can combine them`() throws {
    let page = try source("index.html")
    #expect(page.contains("<link rel=\"modulepreload\" href=\"/web/{version}/modules.js\">"))
    var needed: Set<String> = []
    var waiting = ["app.js"]
    while let name = waiting.popLast() {
      guard needed.insert(name).inserted else { continue }
      let folder = name.hasPrefix(Self.library) ? Self.library : ""
      let text = try source(name)
      // It would be the address of another file.
      #expect(!text.contains("import.meta"), "\(name)")
      for line in text.split(separator: "\n") {
        guard line.hasPrefix("import ") || line.hasPrefix("export ") || line.hasPrefix("} from "),
          let part = line.split(separator: "\"./").dropFirst().first
        else { continue }
        waiting.append("\(folder)\(part.prefix { $0 != "\"" })")
      }
    }
    #expect(needed.count > 30)
    let forms = [
      "import {", "import \"", "export {", "export class ", "export const ", "export function ",
      "export function* ", "export async function ", "export async function* ",
    ]
    for name in try embedded() where name.hasSuffix(".js") && name != "embed.js" {
      for line in try source(name).split(separator: "\n")
      where line.hasPrefix("import") || line.hasPrefix("export") {
        #expect(forms.contains { line.hasPrefix($0) }, "\(name): \(line)")
      }
    }
  }

  /// Assigned text would be read as HTML. The Content-Security-Policy refuses it as well.
  @Test func `make nodes of text, never of HTML`() throws {
    for name in try embedded() where name.hasSuffix(".js") {
      let text = try source(name)
      for word in [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "setHTML",
        "new Function", "createContextualFragment", "DOMParser", "srcdoc", ".style =", "cssText",
      ] {
        #expect(!text.contains(word), "\(name): \(word)")
      }
    }
  }
}
