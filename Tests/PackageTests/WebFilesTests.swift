import TestSupport
import Testing

/// The scripts of the web page.
@Suite struct `Scripts of the web page` {
  /// Assigned text would be read as HTML. The Content-Security-Policy refuses it as well.
  @Test func `make nodes of text, never of HTML`() throws {
    let folders = ["Sources/Web/page", "Sources/JavaScript/relay-client"]
    let scripts = folders.flatMap { folder in
      Folder.package.folder(folder).fileNames.map { "\(folder)/\($0)" }
    }.filter { $0.hasSuffix(".js") }
    #expect(scripts.count > 60)
    for script in scripts {
      let text = try readFile(Project[script])
      for word in [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "setHTML",
        "new Function", "createContextualFragment", "DOMParser", "srcdoc", ".style =", "cssText",
      ] {
        #expect(!text.contains(word), "\(script): \(word)")
      }
    }
  }
}
