// A bot that counts the votes "+1" and "-1" of a room, in one message that it edits. To compile it:
// swiftc -O -o tally tally.swift
import Foundation

struct Message: Decodable { var room, from: String, text: String? }
struct Line: Encodable { var room: String, text, edit: String? }

var votes: [String: [String: Int]] = [:]
while let line = readLine() {
  guard let message = try? JSONDecoder().decode(Message.self, from: Data(line.utf8)),
    let vote = ["+1": 1, "-1": -1][message.text ?? ""]
  else { continue }
  let isFirst = votes[message.room] == nil
  votes[message.room, default: [:]][message.from] = vote
  let all = votes[message.room, default: [:]].values
  let tally = "\(all.count { $0 > 0 }) for, \(all.count { $0 < 0 }) against"
  let answer = Line(
    room: message.room, text: isFirst ? tally : nil, edit: isFirst ? nil : tally)
  FileHandle.standardOutput.write(try JSONEncoder().encode(answer) + Data("\n".utf8))
}
