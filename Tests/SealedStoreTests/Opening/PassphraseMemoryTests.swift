#if os(Linux)
    import EncryptedSQLite
    import Foundation
    import ObjectGraph
    import SealedStore
    import Testing

    /// What an open store keeps of its passphrase; run in a process of its own, where no other test has one.
    @Suite(.withoutSanitizer) struct PassphraseMemoryTests {
        @Test func `while a store is open, its passphrase is not in memory`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder()
                let secret = HiddenPassphrase()
                let coordinator = PersistentStoreCoordinator(
                    model: try ManagedObjectModel(entities: [
                        EntityDescription("Note", attributes: [.init("text", .string, isOptional: true)])
                    ])
                )
                SealedStore.register()
                do {
                    let key = secret.withBytes { EncryptionKey.passphrase($0) }
                    let isFoundBefore = try secret.isInMemory()
                    try #require(isFoundBefore)
                    try coordinator.addPersistentStore(
                        PersistentStoreDescription(
                            type: SealedStore.storeType,
                            url: folder.file("notes.store"),
                            options: [SealedStore.keyOption: key]
                        )
                    )
                }
                let context = ManagedObjectContext(coordinator: coordinator)
                _ = ManagedObject(entity: coordinator.model.entities[0], insertInto: context)
                try context.save()
                let isFound = try secret.isInMemory()
                try #require(!isFound)
                // The connections that are opened later need none.
                let count = try context.count(FetchRequest(coordinator.model.entities[0]))
                try #require(count == 1)
            }
        }
    }

    /// A random passphrase that is never in memory in a piece, except while its bytes are lent.
    private final class HiddenPassphrase {
        private let masked: [UInt8] = (0..<32).map { _ in .random(in: 0...255) }
        private let mask: UInt8 = 0x5c

        /// Lends the bytes in memory that is overwritten afterwards.
        func withBytes<R>(_ body: (UnsafeMutableBufferPointer<UInt8>) -> R) -> R {
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: masked.count)
            for index in masked.indices { bytes[index] = masked[index] ^ mask }
            defer {
                explicit_bzero(bytes.baseAddress!, bytes.count)
                bytes.deallocate()
            }
            return body(bytes)
        }

        /// Whether the first half of the bytes is anywhere in writable memory.
        func isInMemory() throws -> Bool {
            let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            let descriptor = open("/proc/self/mem", O_RDONLY)
            defer { close(descriptor) }
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            // What the search copied must not be found by the next one.
            defer {
                explicit_bzero(chunk.baseAddress!, chunk.count)
                chunk.deallocate()
            }
            for line in maps.split(separator: "\n") where line.contains(" rw") {
                let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
                var start = range[0]
                while start < range[1] {
                    let count = pread(descriptor, chunk.baseAddress, chunk.count, off_t(start))
                    guard count > 0 else { break }
                    if contains(UnsafeRawBufferPointer(rebasing: chunk[..<count])) { return true }
                    guard start + UInt64(count) < range[1] else { break }
                    start += UInt64(max(count - 64, 1))
                }
            }
            return false
        }

        private func contains(_ memory: UnsafeRawBufferPointer) -> Bool {
            var rest = memory
            while rest.count >= 16, let hit = memchr(rest.baseAddress!, Int32(masked[0] ^ mask), rest.count - 15) {
                let offset = UnsafeRawPointer(hit) - UnsafeRawPointer(rest.baseAddress!)
                if (0..<16).allSatisfy({ rest[offset + $0] == masked[$0] ^ mask }) { return true }
                rest = UnsafeRawBufferPointer(rebasing: rest[(offset + 1)...])
            }
            return false
        }
    }
#endif
