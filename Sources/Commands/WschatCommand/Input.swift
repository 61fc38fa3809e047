import EventLoop
import Glibc
import Platform

/// Standard input on an event loop, read only while more is wanted.
///
/// The descriptor stays blocking, because a shell may share it: one read(2) per readiness event of
/// epoll does not block. Regular files and /dev/null, which epoll refuses (`EPERM`), never block
/// anyway.
final class Input {
  enum Chunk {
    case bytes(ArraySlice<UInt8>)
    case end
    case failed(SystemError)
  }

  private let loop: EventLoop
  private let token: UInt64
  private let descriptor: Int32
  private var registration: Registration?
  private var isPaused = true
  private var isOver = false
  private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

  init(descriptor: Int32, on loop: EventLoop, token: UInt64) {
    self.descriptor = descriptor
    self.loop = loop
    self.token = token
  }

  /// Reads while `body` wants more and there is input; epoll reports when to continue.
  func resume(_ body: (Chunk) -> Bool) {
    guard isPaused, !isOver else { return }
    isPaused = false
    do {
      if let registration {
        try loop.change(registration, for: .readable)
      } else {
        registration = try loop.register(descriptor, for: .readable, token: token)
      }
    } catch {
      guard error.code == EPERM else {
        // Started without standard input (`<&-`): there is nothing to send.
        finish(body, error.code == EBADF ? .end : .failed(error))
        return
      }
      while !isPaused, !isOver { read(body) }
    }
  }

  /// Handles a readiness event: there is input, or the end.
  func ready(_ body: (Chunk) -> Bool) {
    // The end of a terminal or pipe is reported even while reading is paused.
    if !isPaused, !isOver { read(body) }
  }

  /// Deregisters from the loop.
  func close() {
    if let registration { loop.deregister(registration) }
    registration = nil
    isOver = true
  }

  private func read(_ body: (Chunk) -> Bool) {
    let count = unsafe buffer.withUnsafeMutableBufferPointer {
      unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
    }
    if count > 0 {
      if !body(.bytes(buffer[..<count])) { pause() }
    } else if count == 0 {
      finish(body, .end)
    } else if errno != EINTR, errno != EAGAIN {
      // EIO: a terminal that was closed.
      finish(body, errno == EIO ? .end : .failed(SystemError.last("read standard input")))
    }
  }

  private func pause() {
    isPaused = true
    guard let registration else { return }
    do {
      try loop.change(registration, for: [])
    } catch {
      preconditionFailure("epoll rejected a change of events: \(error)")
    }
  }

  private func finish(_ body: (Chunk) -> Bool, _ chunk: Chunk) {
    close()
    _ = body(chunk)
  }
}
