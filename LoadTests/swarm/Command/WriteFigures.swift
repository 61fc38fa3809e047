import ArgumentParser
import Platform
import Swarm

/// The subcommand `figures`: writes the tables of a benchmark into documents.
struct WriteFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "figures",
    abstract: "Write the tables of a benchmark into documents.",
    discussion: """
      A document has a line <!-- generated: NAME -->, and further down <!-- end of NAME -->; what \
      is between them is replaced. NAME is bench-figures, a short table, or bench-rows, the whole \
      report.

      Exit codes: 0 done; 2 wrong usage, or a file does not fit.
      """)

  @Argument(
    help: ArgumentHelp("A report that `swarm bench --json` wrote.", valueName: "bench.json"),
    completion: .file(extensions: ["json"]))
  var report: String

  @Argument(
    help: ArgumentHelp("The documents.", valueName: "document"),
    completion: .file(extensions: ["md"]))
  var documents: [String]

  func run() throws {
    do {
      let sections = try BenchMarkdown.sections(
        of: try BenchJSON.read(try TextFile.read(report), file: report))
      // No document is written if another does not fit.
      let texts = try documents.map { path in
        let text = String(decoding: try TextFile.read(path), as: UTF8.self)
        return try GeneratedSections.replaced(in: text, name: path, by: sections)
      }
      for (path, text) in zip(documents, texts) { try TextFile.write(text, to: path) }
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode(2)
    }
  }
}
