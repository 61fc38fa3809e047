import TestSupport
import Testing

extension `End to end` {
  @Suite struct `docs/asyncapi.yaml` {
    @Test func `is valid, names what Protocol.md names, and describes all that the relay sends`()
      throws
    {
      let peer = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer("asyncapi.py"), Programs.relay], input: "")
      #expect(try peer.wait(Deadline(seconds: 180)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }
  }
}
