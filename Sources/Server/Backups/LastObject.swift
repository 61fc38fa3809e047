internal import ObjectStorage

/// The last object that a storage has of a backup, and what is stored up to it.
struct LastObject {
  var number = 0
  var digest: [UInt8] = []
  /// The number and time of the object that a restore of it begins with.
  var base: (number: Int, time: Int64) = (1, 0)
  var stored = StoredPages()
  /// Whether nothing can be gone on with.
  var isNone: Bool { digest.isEmpty }

  /// If objects are missing or damaged, a new beginning has to be made after them.
  init(
    of listing: BackupListing, in storage: any ObjectStorage, store: String,
    report: (String) -> Void
  ) throws(BackupError) {
    guard let last = listing.names.last else { return }
    number = last.number
    do throws(BackupError) {
      let start = listing.points.last?.base ?? listing.names[0].number
      let names = try listing.objects(start...last.number)
      let stored = try StoredPages.read(names, from: storage, store: store)
      let object = try BackupObject.get(last, from: storage)
      (digest, self.stored, base) = (object.digest, stored, (start, names[0].time))
    } catch {
      guard error.kind == .damaged else { throw error }
      report("\(error) The backup begins anew: it stores all pages.")
    }
  }
}
