extension Shard {
  /// The directory says something new.
  public mutating func update(people: DirectoryUpdate, now: Moment) {
    directory = people
  }
}
