import Glibc
import TestSupport
import Testing

extension `End to end` {
  /// `relay backup` and `relay restore`: `backup.py` plays the cases.
  @Suite struct `Backups` {
    private func play(_ name: String, _ more: String...) throws {
      let peer = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer("backup.py"), name, Programs.relay] + more)
      #expect(try peer.wait(Deadline(seconds: 300)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }

    @Test
    func `what was acknowledged before a backup began is restored, whatever is sent meanwhile`()
      throws
    {
      try play("under_load")
    }

    @Test func `a backup that was killed goes on where it was, also if the relay was killed`()
      throws
    {
      try play("killed")
    }

    @Test func `a backup that follows has each message within ten seconds, through kills of both`()
      throws
    {
      try play("follow")
    }

    @Test func `a deleted text is in no object any more after its points were given up`() throws {
      try play("deleted")
    }

    @Test func `a restore names the object that is damaged or missing, and restores nothing`()
      throws
    {
      try play("damaged")
    }

    @Test func `a damaged page of the store is not copied`() throws { try play("damaged_store") }

    @Test func `a rate is held`() throws { try play("rate") }

    @Test func `a point is selected by its number or a time`() throws { try play("at") }

    @Test func `accounts and sessions come back, readable by their owner only`() throws {
      try play("accounts")
    }

    @Test func `the bytes of files come back, each stored once`() throws { try play("files") }

    @Test func `a file whose bytes are lost keeps nothing else back`() throws {
      try play("lost_files")
    }

    @Test func `a bucket of S3 takes the place of a folder, also if it fails now and then`() throws
    {
      try play("s3")
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a file system of its own takes root"))
    func `a target that is full is named, and the next backup goes on there`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let text = String(repeating: "0123456789", count: 800)
      for number in 1...300 {
        try RawClient(relay, user: "ada").say(text, in: "general", id: "\(number)")
      }
      let disk = try SmallDisk(kibibytes: 4096)
      try disk.folder.write(String(repeating: "ballast\n", count: 1 << 18), to: "ballast")
      let place = disk.folder["backup"]
      let full = try RelayProcess.command("backup", "--data", relay.dataFolder, "--to", place)
      #expect(try full.wait() == .exit(4))
      #expect(full.errors.contains("No space left on device. Free some space there."))
      #expect(try fileNames(in: place).isEmpty)

      // One that follows tries until there is space.
      let follower = try ChildProcess(
        [Programs.relay, "backup", "--data", relay.dataFolder, "--to", place, "--follow"], input: ""
      )
      try follower.waitForErrors { $0.contains("tries again until it works") }
      try run("rm", disk.folder["ballast"])
      try follower.waitForErrors { $0.contains("The backup goes on.") }
      try follower.waitForErrors { $0.contains("All pages are stored") }
      follower.signal(SIGKILL)
      try follower.wait()
      let restore = try RelayProcess.command(
        "restore", "--from", place, "--data", relay.folder["restored"])
      #expect(try restore.wait() == .exit(0), "\(restore.errors)")
      #expect(restore.output.contains("1 room, 300 entries"))
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `two backups do not write to one folder`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let arguments = ["--data", relay.dataFolder, "--to", relay.folder["backup"]]
      let first = try ChildProcess([Programs.relay, "backup", "--follow"] + arguments, input: "")
      try first.waitForErrors { $0.contains("All pages are stored") }
      let second = try ChildProcess([Programs.relay, "backup"] + arguments, input: "")
      #expect(try second.wait() == .exit(1))
      #expect(second.errors.contains("is being written by another backup"))
      first.signal(SIGKILL)
      try first.wait()
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `a backup into the data folder is refused, by whatever path`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      try run("ln", "-s", relay.dataFolder, relay.folder["link"])
      for place in [
        relay.dataFolder, "\(relay.dataFolder)/", "\(relay.dataFolder)/files/..",
        "\(relay.dataFolder)/new/folder", relay.folder["link/new"],
      ] {
        let backup = try RelayProcess.command("backup", "--data", relay.dataFolder, "--to", place)
        #expect(try backup.wait() == .exit(1), "\(place)")
        #expect(backup.errors.contains("is in the data folder"), "\(backup.errors)")
      }
      #expect(try !fileNames(in: relay.dataFolder).contains("new"))
      let beside = try RelayProcess.command(
        "backup", "--data", relay.dataFolder, "--to", "\(relay.dataFolder)-backup/new")
      #expect(try beside.wait() == .exit(0), "\(beside.errors)")
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `a backup that follows ends if the store is replaced`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let backup = try ChildProcess(
        [
          Programs.relay, "backup", "--data", relay.dataFolder, "--to", relay.folder["backup"],
          "--follow", "--interval", "1s",
        ], input: "")
      try backup.waitForErrors { $0.contains("All pages are stored") }
      #expect(try relay.stop() == .exit(0))
      try run("cp", "-a", relay.dataFolder, relay.folder["copy"])
      try run("mv", relay.folder["copy/relay.db"], relay.dataFolder)
      #expect(try backup.wait() == .exit(4))
      #expect(backup.errors.contains("was replaced while it was being backed up"))
    }

    @Test func `a log in PostgreSQL is left to the programs for that`() throws {
      let folder = try TemporaryFolder()
      try folder.write(
        "log: { engine: postgresql, url: \"postgresql://127.0.0.1:1/relay\" }\n", to: "relay.yaml")
      let backup = try RelayProcess.command(
        "backup", "--config", folder["relay.yaml"], "--to", folder["backup"])
      #expect(try backup.wait() == .exit(1))
      #expect(backup.errors.contains("pg_basebackup or pgBackRest"))
    }
  }
}
