public import Wire

extension Client {
  /// Sends an entry that names a file which this user has uploaded, or may read; see ``FileTransfers``.
  ///
  /// - Returns: The id that `acknowledged` or `refused` will carry.
  @discardableResult
  public func send(_ file: FileContent, to room: String) -> String {
    send(.file, file.body, to: room)
  }
}
