import Foundation

/// Tests whether another file system, or a file of one, is mounted at a path.
enum MountPoint {
    /// Whether the file at a resolved path is a mount point, as a single file in a container can be.
    static func exists(at path: String) -> Bool {
        #if os(Linux)
            guard let mounts = try? String(contentsOfFile: "/proc/thread-self/mountinfo", encoding: .utf8) else {
                return false
            }
            return exists(at: path, in: mounts)
        #else
            return false
        #endif
    }

    /// Finds a path in the lines of `mountinfo` (proc_pid_mountinfo(5)). It is the fifth field, in which a space and
    /// the characters that would be ambiguous are octal numbers after a backslash.
    static func exists(at path: String, in mounts: String) -> Bool {
        let escaped = [("\\", "\\134"), (" ", "\\040"), ("\t", "\\011"), ("\n", "\\012")]
            .reduce(path) { $0.replacing($1.0, with: $1.1) }
        return mounts.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ", maxSplits: 5)
            return fields.count > 5 && fields[4] == escaped
        }
    }
}
