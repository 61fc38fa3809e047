import Testing

@testable import WebBundler

@Suite struct `Files of the web page, as they are served` {
  private static let sources = [
    "index.html": "<script src={root}web/{version}/app.js>", "style.css": "a { }\n",
    "app.js": "import \"./relay-client/room.js\";\nimport(\"./menu.js\");\n",
    "menu.js": "menu(\"{version}\");\n", "relay-room.js": "",
    "admin.html": "<script src={root}web/{version}/admin.js>",
    "admin.js": "import(\"./admin/now.js\");\n",
    "admin/now.js": "now();\n", "admin/admin.css": "c { }\n",
    "service-worker.js": "const files = \"{files}\";\n",
    "embed.js": "// The element.\nexport * from \"./web/{version}/relay-room.js\";\n",
    "relay-client/room.js": "room();\n", "relay-client/package.json": "{}",
    "accounts/accounts.css": "b { }\n",
  ]

  private func files(_ changes: [String: String] = [:]) throws -> [String: Page.File] {
    let page = try Page(Self.sources.merging(changes) { $1 })
    return Dictionary(uniqueKeysWithValues: page.files.map { ($0.path, $0) })
  }

  private func version(_ files: [String: Page.File]) throws -> String {
    let path = try #require(files.keys.first { $0.hasSuffix("/app.js") })
    return String(path.split(separator: "/")[1])
  }

  @Test func `only files with an address of their own are templates, and change at it`() throws {
    let files = try files()
    let version = try version(files)
    #expect(files["/"]?.text == "<script src=web/\(version)/app.js>")
    // For addresses in a folder.
    #expect(files["/join/"]?.text == "<script src=../web/\(version)/app.js>")
    #expect(files["/admin"]?.text == "<script src=web/\(version)/admin.js>")
    #expect(files["/embed.js"]?.text == "export*from\"./web/\(version)/relay-room.js\";\n")
    #expect(
      files["/service-worker.js"]?.text
        == "const files=[\"app.js\",\"menu.js\",\"modules.js\",\"relay-room.js\",\"accounts/accounts.css\",\"index.html\",\"below.html\",\"style.css\"];\n"
    )
    #expect(files["/web/\(version)/menu.js"]?.text == "menu(\"{version}\");\n")
    #expect(files["/web/\(version)/accounts/accounts.css"]?.text == "b{}")
    for (path, file) in files { #expect(file.isImmutable == path.hasPrefix("/web/")) }
    #expect(files.count == 17)
  }

  @Test func `every change of what is served changes the version`() throws {
    let version = try version(files())
    for name in ["index.html", "style.css", "menu.js", "embed.js", "relay-client/room.js"] {
      #expect(try self.version(files([name: "other()"])) != version, "\(name)")
    }
    #expect(try self.version(files(["menu.js": "// The menu.\nmenu(\"{version}\");"])) == version)
  }

  @Test func `a file whose type is unknown is an error`() {
    #expect(throws: BundlingError.self) { try files(["photo.bmp": ""]) }
  }
}
