internal import ObjectStorage

/// The objects of a backup that a storage has.
struct BackupListing {
  /// In the order of their numbers.
  let names: [ObjectName]
  let place: String

  init(_ storage: any ObjectStorage) throws(BackupError) {
    place = storage.description
    do throws(StorageError) { names = try storage.list().compactMap(ObjectName.init) } catch {
      throw BackupError(error)
    }
  }

  /// The points that can be restored, as far as the names say so, oldest first.
  var points: [ObjectName] {
    let numbers = Set(names.map(\.number))
    return names.filter { $0.base.map(numbers.contains) ?? false }
  }

  /// Returns the objects from one number to another.
  /// - Throws: if one is missing.
  func objects(_ numbers: ClosedRange<Int>) throws(BackupError) -> [ObjectName] {
    let found = names.filter { numbers.contains($0.number) }
    for (number, name) in zip(numbers, found) where name.number != number {
      throw missing(number, before: name)
    }
    if found.count > numbers.count {
      throw BackupError(
        .damaged,
        "\(place) has several objects of one number, from \(numbers.lowerBound) to "
          + "\(numbers.upperBound): two backups were writing there. Restore an earlier point, and give each "
          + "relay a place of its own.")
    }
    if found.count < numbers.count {
      throw BackupError(.damaged, "\(place) has no object \(numbers.lowerBound + found.count).")
    }
    return found
  }

  private func missing(_ number: Int, before name: ObjectName) -> BackupError {
    BackupError(
      .damaged,
      number < name.number
        ? "The object with number \(number), which precedes \(place)/\(name.text), is missing. Restore an "
          + "earlier point (--at), or another backup."
        : "\(place) has several objects with number \(name.number), such as \(name.text): two backups were "
          + "writing there. Restore an earlier point (--at), and give each relay a place of its own."
    )
  }
}
