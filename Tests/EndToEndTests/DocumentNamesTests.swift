import TestSupport
import Testing

extension `End to end` {
  /// Names in documents and manuals: commands, options, targets, metrics and configuration keys.
  @Suite struct `Names in documents` {
    /// The documents that describe the present, unlike the list of changes.
    static let documents = Document.all.filter { $0.name != "CHANGELOG.md" }

    /// Returns the names in a text that begin with one of the prefixes, and consist of letters and
    /// underscores.
    private func names(_ prefix: String, in text: String) -> [Substring] {
      text.ranges(of: prefix).compactMap { range in
        let before = text[..<range.lowerBound].last
        guard before.map({ $0.isLetter || $0.isNumber || "_/.-".contains($0) }) != true else {
          return nil
        }
        return text[range.lowerBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      }
    }

    // MARK: Commands

    private func help(_ command: String...) throws -> String {
      let program = try ChildProcess(
        ["\(Programs.folder)/\(command[0])"] + command.dropFirst() + ["--help"], input: "")
      #expect(try program.wait() == .exit(0), "\(command)")
      return program.output
    }

    /// Returns what is wrong with a command as documents write it: an unknown subcommand, option,
    /// target of make, or a file of this project that does not exist.
    private func faults(in command: String, _ helps: [String: String], _ targets: Set<Substring>)
      -> [String]
    {
      let punctuation: Set<Character> = ["[", "]", "(", ")", "…", ",", "'", "\""]
      let words = command.split { $0 == " " }
        .map { String($0.filter { !punctuation.contains($0) }) }
        .drop { $0.contains("=") || $0 == "exec" }
      let arguments = Array(words.dropFirst())
      let program = words.first?.split(separator: "/").last.map(String.init) ?? ""
      switch program {
      case "make":
        return arguments.prefix { $0 != "#" }.filter { word in
          !word.contains("=") && !word.hasPrefix("-")
            && word.allSatisfy { $0.isLetter || $0 == "-" }
            && !targets.contains(word[...]) && command.split(separator: " ").contains { $0 == word }
            && arguments.first == word
        }
      case "relay", "wschat", "swarm":
        let subcommand = arguments.first.map { "\(program) \($0)" } ?? ""
        let name = helps[subcommand] != nil ? subcommand : program
        guard let help = helps[name] else { return [] }
        let isUnknown =
          program != "wschat" && name == program
          && arguments.first?.first?.isLowercase == true
        let options = arguments.prefix { $0 != "#" }.filter { $0.hasPrefix("--") }
        let paths = arguments.filter { $0.hasPrefix("LoadTests/") || $0.hasPrefix("config/") }
        return options.filter { option in
          !help.contains("\(option.prefix { $0 != "=" }) ")
        } + paths.filter { (try? readFile(Project[$0])) == nil } + (isUnknown ? [subcommand] : [])
      default: return []
      }
    }

    @Test func `every command, option and target exists`() throws {
      var helps = ["wschat": try help("wschat")]
      for program in `Manuals`.pages {
        helps[program.command] = try help(program.command)
        for subcommand in program.subcommands {
          helps["\(program.command) \(subcommand)"] = try help(program.command, subcommand)
        }
      }
      let makefile = try readFile(Project["Makefile"]).split(separator: "\n")
      let targets = Set(
        makefile.filter { $0.first?.isLetter == true }.compactMap { line in
          line.firstIndex(of: ":").map { line[..<$0] }
        }.flatMap { $0.split(separator: " ") })
      var examined = 0
      for document in Self.documents {
        let shell = document.blocks.filter { $0.language == "sh" }.flatMap(\.commands)
        for line in shell + (document.isMarkdown ? document.codeSpans : []) {
          for command in line.split(whereSeparator: { "|&;<".contains($0) }) {
            let faults = faults(in: String(command), helps, targets)
            #expect(faults == [], "\(document.name): \(command)")
            examined += 1
          }
        }
      }
      #expect(examined > 100)
      // An option without its command, `--ca`, belongs to one of them.
      for name in ["README.md", "docs/operations.md", "docs/messenger.md", "docs/load-testing.md"] {
        for span in try Document(name).codeSpans where span.hasPrefix("--") {
          let option = "\(span.prefix { $0 != " " }) "
          #expect(helps.values.contains { $0.contains(option) }, "\(name): \(span)")
        }
      }
    }

    // MARK: Metrics

    /// Every metric that a document names is in the answer of a running relay, with its labels.
    @Test func `every metric exists`() throws {
      let folder = try TemporaryFolder()
      try folder.write("[{ user: ada }]\n", to: "people.yaml")
      let relay = try RelayProcess(
        "directory: { file: \(folder["people.yaml"]) }", in: folder)
      // The age of the list of people is a metric once the list has been read.
      #expect(try becomesTrue { try relay.metrics().contains("relay_directory_age_seconds") })
      // A relay that shares its log has more of them.
      let server = try PostgresServer()
      let sharing = try RelayProcess(
        "log: { engine: postgresql, url: \"\(server.url)\", durability: os }")
      let lines = try [relay, sharing].flatMap {
        try $0.metrics().split(whereSeparator: \.isNewline)
      }
      let types = Set(
        lines.filter { $0.hasPrefix("# TYPE ") }.compactMap {
          $0.split(separator: " ").dropFirst(2).first
        })
      var examined = 0
      for document in Self.documents {
        let named = names("relay_", in: document.text) + names("process_", in: document.text)
        for metric in named {
          #expect(types.contains(metric), "\(document.name): \(metric)")
          examined += 1
          let rest = metric.base[metric.endIndex...]
          guard rest.hasPrefix("{") else { continue }
          let label = rest.dropFirst().prefix { $0.isLetter }
          #expect(
            lines.contains { $0.hasPrefix("\(metric){") && $0.contains("\(label)=\"") },
            "\(document.name): \(metric) has no label \(label)")
        }
      }
      #expect(examined > 20)
    }

    // MARK: Configuration keys

    @Test func `every configuration key and variable exists`() throws {
      let check = try RelayProcess.command("check-config")
      var path: [String] = []
      var keys: Set<String> = []
      for line in check.output.split(separator: "\n") {
        let depth = line.prefix { $0 == " " }.count / 2
        let name = line.drop { $0 == " " }.prefix { $0.isLetter || $0 == "_" }
        path = path.prefix(depth) + [String(name)]
        keys.insert(path.joined(separator: "."))
      }
      let sections = Set(
        keys.compactMap {
          $0.split(separator: ".").count > 1 ? $0.split(separator: ".").first : nil
        })
      let variables = Set(
        keys.map { "RELAY_\($0.uppercased().split(separator: ".").joined(separator: "_"))" })
      var examined = 0
      for document in Self.documents
      where document.name.hasPrefix("docs/") || document.name == "README.md" {
        for span in document.codeSpans {
          let key = span.prefix { $0.isLetter || $0 == "_" || $0 == "." }
          guard let first = key.split(separator: ".").first, key.contains("."),
            sections.contains(first),
            !key.hasSuffix("."),
            !["md", "swift", "db", "json", "yaml", "js"].contains(key.split(separator: ".").last)
          else { continue }
          #expect(keys.contains(String(key)), "\(document.name): \(key)")
          examined += 1
        }
        for variable in names("RELAY_", in: document.text) {
          #expect(variables.contains(String(variable)), "\(document.name): \(variable)")
          examined += 1
        }
      }
      #expect(examined > 30)
    }
  }
}
