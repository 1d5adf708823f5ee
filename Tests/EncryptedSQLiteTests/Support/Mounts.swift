import Foundation
import TestSupport
import Testing

/// File systems mounted by one thread of a test process, in its own namespace.
enum Mounts {
    struct Failure: Error {
        let code: Int32
    }

    /// Whether the tests may mount file systems.
    static let areAllowed = geteuid() == 0 && (try? run("unshare", ["-m", "true"]).status) == 0

    // As in <linux/sched.h> and <linux/mount.h>.
    private static let newNamespace: CInt = 0x20000
    private static let readOnly: CUnsignedLong = 1
    private static let remount: CUnsignedLong = 32
    private static let bind: CUnsignedLong = 4096
    private static let recursivelyPrivate: CUnsignedLong = 1 << 14 | 1 << 18

    /// Mounts an empty file system in memory on a folder, for this thread only.
    ///
    /// - Parameter byteCount: The size of the file system; nil for the default.
    static func mountMemory(on folder: String, byteCount: Int? = nil) throws {
        typealias Unshare = @convention(c) (CInt) -> CInt
        let unshare = unsafeBitCast(try function("unshare"), to: Unshare.self)
        guard unshare(newNamespace) == 0 else { throw Failure(code: errno) }
        try mount(on: "/", recursivelyPrivate)
        try mount(on: folder, 0, "tmpfs", options: byteCount.map { "size=\($0)" })
    }

    /// Mounts a file at its own path, for this thread only.
    static func mountOnItself(_ file: String) throws {
        typealias Unshare = @convention(c) (CInt) -> CInt
        let unshare = unsafeBitCast(try function("unshare"), to: Unshare.self)
        guard unshare(newNamespace) == 0 else { throw Failure(code: errno) }
        try mount(on: "/", recursivelyPrivate)
        try mount(on: file, bind, nil, file)
    }

    /// Makes the file system of a folder read-only.
    static func makeReadOnly(_ folder: String) throws { try mount(on: folder, remount | readOnly) }

    /// Mounts a folder read-only at another one.
    static func show(_ folder: String, readOnlyAt view: String) throws {
        try mount(on: view, bind, nil, folder)
        try mount(on: view, bind | remount | readOnly)
    }

    private static func mount(
        on target: String,
        _ flags: CUnsignedLong,
        _ type: String? = nil,
        _ source: String = "none",
        options: String? = nil
    ) throws {
        typealias Mount =
            @convention(c) (
                UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, CUnsignedLong,
                UnsafePointer<CChar>?
            ) -> CInt
        let mount = unsafeBitCast(try function("mount"), to: Mount.self)
        guard mount(source, target, type, flags, options) == 0 else { throw Failure(code: errno) }
    }

    /// A function of the C library that Swift does not import.
    private static func function(_ name: String) throws -> UnsafeMutableRawPointer {
        guard let function = dlsym(dlopen(nil, RTLD_NOW), name) else { throw Failure(code: ENOSYS) }
        return function
    }
}

/// Drops the rights of the superuser, who can write to read-only folders.
func becomeOrdinaryUser() throws {
    guard geteuid() == 0 else { return }
    guard setegid(65534) == 0, seteuid(65534) == 0 else { throw Mounts.Failure(code: errno) }
}
