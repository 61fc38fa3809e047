internal import CLinux

/// Memory that was freed and is still the process's, since the allocator keeps it for what may come.
public enum FreeMemory {
  /// Gives back to the system what lies in whole pages (malloc_trim(3)). It looks at all that is
  /// free, for which other threads wait if they allocate: to be called when much was freed.
  public static func giveBack() { clinux_trim_memory() }
}
