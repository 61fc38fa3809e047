internal import EventLoop
internal import Platform

/// Simulated power losses.
extension Run {
  /// The result of a power loss.
  struct Repair: Sendable {
    var disk: RecordedDisk
    var loss: RecordedDisk.Loss
    /// The errors that `relay verify` found; `nil` if there are none.
    var complaint: String?
  }

  /// Kills the relay, replaces its files by a possible state of the disk, has them verified, and
  /// restarts the relay. Everything but the kill runs on another thread.
  func losePower() {
    guard let relay = cluster?.relays[0], powerLoss == nil, let recorded = relay.disk else {
      return
    }
    relay.kill()
    mark("power lost")
    let mercies = Disk.Mercy.allCases
    let mercy = mercies[powerLosses % mercies.count]
    let seed = plan.seed &+ UInt64(powerLosses)
    powerLosses += 1
    let verification = relay.verification
    do {
      let answers = try Mailbox<Result<Repair, Failure>>()
      let registration = try loop.register(
        answers.descriptor, for: .readable, token: Token.power)
      powerLoss = PowerLoss(answers: answers, registration: registration)
      powerLoss?.thread = try WorkerThread(name: "power-loss") {
        do {
          var disk = recorded
          let loss = try disk.losePower(mercy, seed: seed)
          let complaint = try verification.run()
          answers.post(.success(Repair(disk: disk, loss: loss, complaint: complaint)))
        } catch {
          answers.post(.failure(Failure(description: "\(error)", isUsage: false)))
        }
      }
    } catch {
      mark("cannot cut the power: \(error)")
    }
  }

  /// Handles the loop's event that the files have been replaced.
  func powerReturns() {
    var results: [Result<Repair, Failure>] = []
    powerLoss?.answers.drain(into: &results)
    guard let result = results.first, let powerLoss, let relay = cluster?.relays[0] else { return }
    loop.deregister(powerLoss.registration)
    powerLoss.thread?.join()
    self.powerLoss = nil
    switch result {
    case .failure(let failure):
      // The relay stays down, and its missing entries are reported at the end.
      mark("cannot cut the power: \(failure)")
    case .success(let repair):
      relay.adopt(repair.disk)
      if let complaint = repair.complaint {
        oracle.report(.broken, "-", [], "relay verify, after the power loss: \(complaint)")
      }
      restart(0, "power restored, with \(repair.loss.mercy.sentence)", after: "power loss")
    }
  }

  /// A power loss in progress.
  struct PowerLoss {
    var answers: Mailbox<Result<Repair, Failure>>
    var registration: Registration
    var thread: WorkerThread?
  }
}

extension Disk.Mercy {
  /// The part of the unsynced writes that survived.
  var sentence: String {
    switch self {
    case .none: "no unsynced writes"
    case .earlier: "all writes before some moment"
    case .some: "some of the unsynced writes"
    case .torn: "some sectors of the unsynced writes"
    }
  }
}
