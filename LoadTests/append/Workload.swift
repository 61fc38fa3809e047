import Relay
import Synchronization
import Wire

/// The entries of a run, in the order of sending: rooms and users in turn, texts of one length,
/// unique ids.
struct Workload {
  var rooms: Int
  /// The number of users who send to each room.
  var usersPerRoom: Int
  var body: [UInt8]
  private var next = 0
  /// Distinguishes the ids of several workloads.
  var prefix = "m"
  private let roomNames: [String]
  private let userNames: [String]

  init(rooms: Int, usersPerRoom: Int, textBytes: Int) {
    self.rooms = rooms
    self.usersPerRoom = usersPerRoom
    body =
      ClientMessage.Send(
        room: "r", id: "i", text: String(repeating: "x", count: textBytes)
      ).body
    roomNames = (0..<rooms).map { "room-\($0)" }
    userNames = (0..<usersPerRoom).map { "user-\($0)" }
  }

  mutating func batch(_ count: Int) -> [LogRequest] {
    (0..<count).map { _ in
      defer { next += 1 }
      // The strides are coprime to the count, so that consecutive entries belong to different
      // rooms.
      let room = next &* 7919 % rooms
      let user = next / rooms % usersPerRoom
      return .append(
        LogRequest.Append(
          session: SessionID(index: 0, generation: 0), room: roomNames[room],
          user: userNames[user], id: "\(prefix)-\(next)", kind: .text, body: body, mayCreate: true))
    }
  }
}

/// A histogram of latencies with buckets that grow by 2^(1/8), from one microsecond.
struct Latencies {
  private var counts: [Int] = Array(repeating: 0, count: 256)
  private(set) var longest: Int64 = 0
  private(set) var count = 0

  mutating func record(nanoseconds: Int64) {
    longest = max(longest, nanoseconds)
    count += 1
    var bucket = 0
    var limit = 1000.0
    while limit < Double(nanoseconds), bucket < counts.count - 1 {
      limit *= 1.0905077326652577
      bucket += 1
    }
    counts[bucket] += 1
  }

  /// Returns milliseconds.
  func percentile(_ share: Double) -> Double {
    var rest = Double(count) * share
    var limit = 1000.0
    for bucket in counts {
      rest -= Double(bucket)
      if rest <= 0 { break }
      limit *= 1.0905077326652577
    }
    return limit / 1e6
  }
}
