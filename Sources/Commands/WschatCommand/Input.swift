import EventLoop
import Glibc
import Platform

/// Standard input on a loop, read only while somebody wants more.
///
/// The descriptor is left blocking, since a shell may share it: one read(2) for each time that
/// epoll says there is something does not block. Regular files and /dev/null, which epoll refuses
/// (`EPERM`), never block anyway.
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

  /// Reads as long as `body` wants more and there is something; epoll says when to go on.
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

  /// epoll says that there is something, or nothing ever again.
  func ready(_ body: (Chunk) -> Bool) {
    // The end of a terminal or pipe is also told while nobody wants to know.
    if !isPaused, !isOver { read(body) }
  }

  /// Leaves the loop.
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
      // EIO: a terminal that went away.
      finish(body, errno == EIO ? .end : .failed(SystemError.last("read standard input")))
    }
  }

  private func pause() {
    isPaused = true
    guard let registration else { return }
    do {
      try loop.change(registration, for: [])
    } catch {
      preconditionFailure("epoll refuses a pause: \(error)")
    }
  }

  private func finish(_ body: (Chunk) -> Bool, _ chunk: Chunk) {
    close()
    _ = body(chunk)
  }
}
