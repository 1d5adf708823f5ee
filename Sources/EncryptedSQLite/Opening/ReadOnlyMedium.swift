import CSQLCipher
import Foundation

/// Tests whether a file is on a medium that cannot be written.
///
/// That this process lacks the permission to write proves nothing: another process may have it. A read-only mount
/// proves nothing either: the same file system may be mounted elsewhere for writing. The file system itself must be
/// read-only, and no other machine may be able to write it.
enum ReadOnlyMedium {
    static func contains(_ path: String) -> Bool {
        #if canImport(Darwin)
            var status = statfs()
            guard statfs(path, &status) == 0 else { return false }
            let required = UInt32(MNT_RDONLY | MNT_LOCAL)
            return status.f_flags & required == required
        #else
            var status = stat()
            guard stat(path, &status) == 0,
                let mounts = try? String(contentsOfFile: "/proc/thread-self/mountinfo", encoding: .utf8)
            else { return false }
            let device = UInt64(status.st_dev)
            let major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
            let minor = device & 0xff | (device >> 12) & ~0xff
            return isReadOnly(device: "\(major):\(minor)", in: mounts)
        #endif
    }

    /// The file systems that only this machine can write.
    private static let localFileSystems: Set<Substring> = [
        "btrfs", "cramfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "iso9660", "romfs", "squashfs", "tmpfs",
        "udf", "vfat", "xfs",
    ]

    /// Finds a device in the lines of `mountinfo` (proc_pid_mountinfo(5)): the third field is the device; the separator
    /// `-` precedes the type, the source and the options of the file system, which all its mounts share.
    static func isReadOnly(device: String, in mounts: String) -> Bool {
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, fields[2] == device, let separator = fields.firstIndex(of: "-"),
                separator + 3 < fields.count, localFileSystems.contains(fields[separator + 1])
            else { continue }
            if fields[separator + 3].split(separator: ",").contains("ro") { return true }
        }
        return false
    }
}
