/// Numbers in the files of pictures; `nil` if the file ends before.
extension Span<UInt8> {
  func big16(_ place: Int) -> UInt16? {
    guard place >= 0, place <= count - 2 else { return nil }
    return UInt16(self[place]) << 8 | UInt16(self[place + 1])
  }

  func big32(_ place: Int) -> UInt32? {
    guard let high = big16(place), let low = big16(place + 2) else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }

  /// The place of a part of a file; `nil` if the file ends before.
  func range(_ place: Int, count: Int) -> Range<Int>? {
    guard place >= 0, count >= 0, place <= self.count, count <= self.count - place else {
      return nil
    }
    return place..<place + count
  }

  var array: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for index in indices { bytes.append(self[index]) }
    return bytes
  }
}
