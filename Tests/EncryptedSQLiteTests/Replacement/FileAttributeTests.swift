#if os(Linux)
    import CSQLCipher
    import EncryptedSQLite
    import Foundation
    import TestSupport
    import Testing

    private enum AccessList {
        static let name = "system.posix_acl_access"

        /// Whether the file system of the tests has such lists and other attributes.
        static let areSupported: Bool = {
            let folder = TemporaryFolder()
            return set(name, list(ofUser: 1), at: folder.path) && set("user.label", [1], at: folder.path)
        }()

        /// A list that lets a user read and write, in the form of its attribute: a version, and entries of a kind, rights
        /// and an identifier.
        static func list(ofUser user: UInt32) -> [UInt8] {
            let none = UInt32.max
            let entries: [(kind: UInt16, rights: UInt16, identifier: UInt32)] = [
                (0x01, 6, none), (0x02, 6, user), (0x04, 0, none), (0x10, 6, none), (0x20, 0, none),
            ]
            var bytes: [UInt8] = [2, 0, 0, 0]
            for entry in entries {
                for part in [UInt32(entry.kind) | UInt32(entry.rights) << 16, entry.identifier] {
                    withUnsafeBytes(of: part.littleEndian) { bytes += $0 }
                }
            }
            return bytes
        }

        static func set(_ name: String, _ value: [UInt8], at path: String) -> Bool {
            setxattr(path, name, value, value.count, 0) == 0
        }
    }

    /// A replaced file keeps its access control list and its extended attributes.
    @Suite(.enabled(if: AccessList.areSupported, "the file system has no access control lists"))
    struct FileAttributeTests {
        private static let label = "user.label"

        private let folder = TemporaryFolder()
        private var path: String { folder.filePath("store") }

        private func value(_ name: String) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: 1000)
            let count = getxattr(path, name, &bytes, bytes.count)
            return count < 0 ? nil : Array(bytes.prefix(count))
        }

        @Test func `a change of the key keeps the access control list and the attributes`() throws {
            try makeSample(path)
            #expect(AccessList.set(AccessList.name, AccessList.list(ofUser: 12_345), at: path))
            #expect(AccessList.set(Self.label, Array("blue".utf8), at: path))
            let database = try openSample(path)
            try database.changeKey(to: rawKey(2))
            #expect(value(AccessList.name) == AccessList.list(ofUser: 12_345))
            #expect(value(Self.label) == Array("blue".utf8))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o660)
            #expect(try database.read { try $0.itemCount() } == 3)
        }

        @Test func `the new file does not inherit rights from its folder`() throws {
            try makeSample(path)
            #expect(AccessList.set("system.posix_acl_default", AccessList.list(ofUser: 12_345), at: folder.path))
            let database = try openSample(path)
            try database.changeKey(to: rawKey(2))
            #expect(value(AccessList.name) == nil)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }
#endif
