import TestSupport
import Testing
import Wire

extension `End to end` {
  /// The pages for man(1), compared with the commands.
  @Suite struct `Manuals` {
    /// A command's page, and its subcommands.
    struct Page: CustomTestStringConvertible, Sendable {
      var command: String
      var file: String
      var subcommands: [String] = []
      var path: String { Project["\(file)"] }
      var testDescription: String { "\(command)(1)" }
    }

    static let pages = [
      Page(
        command: "relay", file: "Sources/Commands/RelayCommand/relay.1",
        subcommands: [
          "init", "serve", "check-config", "token", "invite", "users", "rooms", "ban", "unban",
          "connections", "top", "trace", "erase", "retention", "verify", "export", "import",
          "migrate",
          "backup", "restore",
        ]),
      Page(
        command: "wschat", file: "Sources/Commands/WschatCommand/wschat.1",
        subcommands: ["login", "logout", "sessions"]),
      Page(
        command: "swarm", file: "LoadTests/swarm/swarm.1",
        subcommands: ["run", "find", "compare", "bench", "files"]),
    ]

    private func help(_ arguments: [String]) throws -> String {
      let program = try ChildProcess(
        ["\(Programs.folder)/\(arguments[0])"] + arguments.dropFirst() + ["--help"],
        environment: ["COLUMNS=80"], input: "")
      #expect(try program.wait() == .exit(0))
      return program.output
    }

    /// The flags that a help explains: words with hyphens where a line of OPTIONS begins.
    private func flags(inHelp help: String) -> Set<String> {
      Set(
        help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
          line.dropFirst(2).split(separator: " ").prefix { $0.hasPrefix("-") }
            .map { $0.filter { $0 != "," } }
        })
    }

    /// The flags that items of a page's lists explain, by the subsection in which they do; those
    /// before the first are under the empty name.
    private func flags(inPage page: String) -> [String: Set<String>] {
      var section = ""
      var flags: [String: Set<String>] = [:]
      for line in page.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.first == ".Ss" { section = words.dropFirst().joined(separator: " ") }
        guard line.hasPrefix(".It Fl ") else { continue }
        let names = words.dropFirst(2).prefix { $0 != "Ar" }.filter { $0 != "," }
        flags[section, default: []].formUnion(names.map { "-\($0)" })
      }
      return flags
    }

    @Test(arguments: pages) func `a manual explains exactly the options that exist`(
      page: Page
    ) throws {
      let text = try readFile(page.path)
      var told = flags(inPage: text)
      let common = told.removeValue(forKey: "") ?? []
      #expect(common.isSuperset(of: ["-h", "--help", "--version"]))
      #expect(flags(inHelp: try help([page.command])) == common)
      for subcommand in page.subcommands {
        let known = flags(inHelp: try help([page.command, subcommand]))
        let explained = told.removeValue(forKey: subcommand) ?? []
        #expect(known.subtracting(common) == explained, "\(subcommand)")
      }
      #expect(told.isEmpty)
    }

    /// Names and tokens come from others, who may have chosen a hyphen as the first character.
    @Test(arguments: ["relay", "wschat"]) func `an option takes a name that begins with a hyphen`(
      command: String
    ) throws {
      let names: Set = ["u", "user", "r", "room", "name", "id", "k", "t", "token"]
      let program = try ChildProcess(
        ["\(Programs.folder)/\(command)", "--experimental-dump-help"], input: "")
      #expect(try program.wait() == .exit(0))
      var commands = [try #require(JSONNode(Array(program.output.utf8))?["command"])]
      var count = 0
      while let next = commands.popLast() {
        commands += next["subcommands"]?.elements ?? []
        for option in next["arguments"]?.elements ?? [] {
          guard option["kind"]?.string == "option", option["isRepeating"]?.boolean != true,
            let value = option["valueName"]?.string, names.contains(value)
          else { continue }
          count += 1
          let name = option["preferredName"]?["name"]?.string ?? ""
          #expect(option["parsingStrategy"]?.string == "unconditional", "--\(name)")
        }
      }
      #expect(count > 5)
    }

    @Test(arguments: pages) func `a manual names every subcommand, and no other`(page: Page)
      throws
    {
      let listed = try help([page.command]).split(separator: "\n")
        .drop { $0 != "SUBCOMMANDS:" }.dropFirst()
        .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  See ") }
        .compactMap { $0.split(separator: " ").first.map(String.init) }
      #expect(listed == page.subcommands)
      let text = try readFile(page.path)
      for subcommand in page.subcommands {
        #expect(text.contains("\n.Ss \(subcommand)\n"), "\(subcommand)")
        #expect(text.contains("\n.Cm \(subcommand)\n"), "\(subcommand) in the synopsis")
      }
    }

    @Test(arguments: pages) func `the synopsis has every option`(page: Page) throws {
      let text = try readFile(page.path)
      let start = try #require(text.firstRange(of: ".Sh SYNOPSIS"))
      let end = try #require(text.firstRange(of: ".Sh DESCRIPTION"))
      let synopsis = text[start.upperBound..<end.lowerBound]
      for flags in flags(inPage: text).values {
        for flag in flags.subtracting(["-h", "--help", "--version"]) {
          #expect(synopsis.contains("Fl \(flag.dropFirst())"), "\(flag)")
        }
      }
    }

    @Test(arguments: pages) func `man shows a manual with every section`(page: Page) throws {
      let man = try ChildProcess(
        ["man", "--warnings", "-l", page.path],
        environment: ["MANWIDTH=78", "LC_ALL=C.UTF-8", "MANPAGER=cat", "PAGER=cat"], input: "")
      #expect(try man.wait() == .exit(0))
      #expect(man.errors == "")
      let lines = man.output.split(separator: "\n")
      for section in [
        "NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES",
        "SEE ALSO",
      ] {
        #expect(lines.contains { $0 == section }, "\(section)")
      }
      #expect(lines.allSatisfy { $0.count <= 78 })
    }

    @Test(
      .enabled(if: Programs.isInstalled("mandoc"), "there is no mandoc here, which checks manuals"),
      arguments: pages)
    func `mandoc has no complaints`(page: Page) throws {
      let lint = try ChildProcess(["mandoc", "-Tlint", "-Wstyle", page.path], input: "")
      try lint.wait()
      // The pages that are referred to need not be installed where the tests run.
      let complaints = (lint.output + lint.errors).split(separator: "\n").filter {
        !$0.contains("referenced manual not found") && !$0.contains("outdated mandoc.db")
      }
      #expect(complaints == [])
    }
  }
}
