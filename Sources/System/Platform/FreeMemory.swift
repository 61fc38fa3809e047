internal import CLinux

/// Freed memory that the allocator keeps for later allocations.
public enum FreeMemory {
  /// Returns free whole pages to the system (malloc_trim(3)). It scans all free memory, and blocks
  /// allocations of other threads meanwhile: to be called when much was freed.
  public static func giveBack() { clinux_trim_memory() }
}
