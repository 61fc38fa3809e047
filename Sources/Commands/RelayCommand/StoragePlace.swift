import ArgumentParser
internal import ObjectStorage

/// Where a backup is: a folder.
struct StoragePlace: ExpressibleByArgument {
  private let path: String

  init?(argument: String) {
    guard !argument.isEmpty, !argument.contains("://") else { return nil }
    path = argument
  }

  func open() throws -> any ObjectStorage { FolderStorage(path) }
}
