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

  /// Takes what was read; returns whether more is wanted.
  var receive: (Chunk) -> Bool = { _ in false }
  private let dispatcher: Dispatcher
  private let descriptor: Int32
  private var watch: Watch?
  private var isPaused = true
  private var isOver = false
  private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

  init(descriptor: Int32, on dispatcher: Dispatcher) {
    self.descriptor = descriptor
    self.dispatcher = dispatcher
  }

  /// Reads while more is wanted and there is input; epoll reports when to continue.
  func resume() {
    guard isPaused, !isOver else { return }
    isPaused = false
    do {
      if let watch {
        try watch.change(for: .readable)
      } else {
        watch = try Watch(descriptor, on: dispatcher) { [unowned self] _ in
          // The end of a terminal or pipe is reported even while reading is paused.
          if !isPaused, !isOver { read() }
        }
      }
    } catch {
      guard error.code == EPERM else {
        // Started without standard input (`<&-`): there is nothing to send.
        return finish(error.code == EBADF ? .end : .failed(error))
      }
      while !isPaused, !isOver { read() }
    }
  }

  /// Stops watching it.
  func close() {
    watch = nil
    isOver = true
  }

  private func read() {
    let count = unsafe buffer.withUnsafeMutableBufferPointer {
      unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
    }
    if count > 0 {
      if !receive(.bytes(buffer[..<count])) { pause() }
    } else if count == 0 {
      finish(.end)
    } else if errno != EINTR, errno != EAGAIN {
      // EIO: a terminal that was closed.
      finish(errno == EIO ? .end : .failed(SystemError.last("read standard input")))
    }
  }

  private func pause() {
    isPaused = true
    do {
      try watch?.change(for: [])
    } catch {
      preconditionFailure("epoll rejected a change of events: \(error)")
    }
  }

  private func finish(_ chunk: Chunk) {
    close()
    _ = receive(chunk)
  }
}
