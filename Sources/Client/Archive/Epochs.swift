internal import Wire

extension Archive {
  /// The epochs of a room's entries, as the relay told them.
  struct Epochs: Equatable {
    var current: String
    /// Empty if it is not known.
    var lineage: [EpochStart] = []
  }
}

extension Archive.Epochs {
  /// Reads what is stored; `nil` if there is no epoch.
  /// - Parameter lineage: In the form of a query.
  init?(current: String?, lineage: String) {
    guard let current else { return nil }
    self.init(current: current, lineage: [EpochStart](query: lineage) ?? [])
  }
}
