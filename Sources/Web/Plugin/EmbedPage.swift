import Foundation
import PackagePlugin

/// Runs `WebBundler` for the module `Server`, whenever a file of the page or of relay-client has changed.
///
/// What a plugin generates has to be Swift: SwiftPM 6.3 compiles generated C only behind an experimental
/// flag in the first line of `Package.swift`.
///
/// SwiftPM asks a plugin again when the folder of a target gets or loses a file. Therefore the folder of
/// `WebBundler` is `Sources/Web`, with the page, and the page has a link to relay-client.
@main
struct EmbedPage: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let sources = context.package.directoryURL.appending(path: "Sources")
    let folders = [
      "Web/page", "Web/page/accounts", "Web/page/admin", "Web/page/rooms",
      "JavaScript/relay-client",
    ]
    let files = try folders.flatMap { folder in
      try FileManager.default.contentsOfDirectory(
        at: sources.appending(path: folder), includingPropertiesForKeys: nil
      ).filter { $0.pathExtension != "" }
    }
    let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFile+All.swift")
    return [
      .buildCommand(
        displayName: "Bundling the web page", executable: try context.tool(named: "WebBundler").url,
        arguments: [output.path()] + files.map { $0.path() },
        // A build that counts what is run must not count this program: it would leave a file.
        environment: ["LLVM_PROFILE_FILE": "/dev/null"],
        inputFiles: files, outputFiles: [output])
    ]
  }
}
