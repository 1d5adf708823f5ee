#if os(Linux)
    import EncryptedSQLite
    import Foundation
    import TestSupport
    import Testing

    /// The memory of a process after a database is closed; run in a separate process, without the keys of other tests.
    @Suite(.enabled(if: HiddenSecret.isSearchable)) struct KeyMemoryTests {
        @Test(arguments: [32, 5000])
        func `a core dump does not contain a key`(byteCount: Int) async {
            await #expect(processExitsWith: .success) { [byteCount] in
                let secret = HiddenSecret(count: byteCount)
                let keys = (0..<300).map { _ in secret.withBytes { EncryptionKey.passphrase($0) } }
                let isInMemory = try secret.isInMemory()
                try #require(isInMemory)
                let isInCoreDump = try secret.isInCoreDump()
                try #require(!isInCoreDump)
                withExtendedLifetime(keys) {}
            }
        }

        @Test func `after closing, neither passphrase nor key is in memory`() async {
            await #expect(processExitsWith: .success) {
                let folder = TemporaryFolder()
                for isPassphrase in [true, false] {
                    let secret = HiddenSecret()
                    var key: EncryptionKey? = try secret.withBytes {
                        isPassphrase ? EncryptionKey.passphrase($0) : try EncryptionKey.raw($0)
                    }
                    let database = try openSample(folder.filePath("store-\(isPassphrase)"), key: key)
                    let isFoundWhileInUse = try secret.isInMemory()
                    try #require(isFoundWhileInUse)
                    try database.write { try insert(1...10, into: $0) }
                    _ = try database.read { try $0.itemCount() }
                    try database.close()
                    key = nil
                    let isFoundAfterwards = try secret.isInMemory()
                    try #require(!isFoundAfterwards)
                }
            }
        }
    }
#endif
