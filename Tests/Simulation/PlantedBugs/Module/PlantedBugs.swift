internal import Glibc

/// Whether this planted bug is the active one, which `PLANTED_BUG` in the environment names.
public func isPlanted(_ name: String) -> Bool { active == name }

private let active: String? = unsafe getenv("PLANTED_BUG").map { unsafe String(cString: $0) }
