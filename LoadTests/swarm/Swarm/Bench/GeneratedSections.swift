/// The sections of a document that a program writes, between comments:
/// `<!-- generated: NAME -->` and `<!-- end of NAME -->`, each on a line of its own.
public enum GeneratedSections {
  /// Why a document has no section; prints as a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// A single line for the user.
    public var description: String
  }

  /// Returns the document with new contents of its sections.
  ///
  /// - Parameters:
  ///   - name: The name of the document for errors.
  ///   - sections: Contents by name. A document need not have all of them, but at least one.
  public static func replaced(
    in document: String, name: String, by sections: [String: String]
  ) throws(Failure) -> String {
    var lines: [Substring] = []
    var open: String?
    var count = 0
    for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
      if let section = open {
        guard line == "<!-- end of \(section) -->" else { continue }
        open = nil
      }
      lines.append(line)
      guard let section = Self.section(beginningAt: line) else { continue }
      guard let written = sections[section] else {
        throw Failure(
          description: "\(name): there is no section \"\(section)\"; sections:"
            + " \(sections.keys.sorted().joined(separator: ", "))")
      }
      // Markdown needs an empty line between a comment and a table.
      var content = written[...]
      while content.last == "\n" { content.removeLast() }
      lines += ["", content, ""]
      open = section
      count += 1
    }
    if let open {
      throw Failure(description: "\(name): the line <!-- end of \(open) --> is missing")
    }
    guard count > 0 else {
      throw Failure(
        description: "\(name) has no line <!-- generated: NAME -->, with a NAME of"
          + " \(sections.keys.sorted().joined(separator: ", "))")
    }
    return lines.joined(separator: "\n")
  }

  private static func section(beginningAt line: Substring) -> String? {
    let (start, end) = ("<!-- generated: ", " -->")
    guard line.hasPrefix(start), line.hasSuffix(end) else { return nil }
    return String(line.dropFirst(start.count).dropLast(end.count))
  }
}
