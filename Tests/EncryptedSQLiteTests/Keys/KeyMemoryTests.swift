#if os(Linux)
    import EncryptedSQLite
    import Foundation
    import Testing

    /// What is left of a key in the memory of the process; run in a process of its own, where no other test has keys.
    @Suite(.withoutSanitizer) struct KeyMemoryTests {
        @Test func `after closing, neither passphrase nor key is in memory`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder()
                // Neither key is ever in memory in a piece, except in the buffer that the test overwrites.
                let secret = SecretBuffer(count: 32)
                for isPassphrase in [true, false] {
                    secret.fill()
                    var key: EncryptionKey? =
                        isPassphrase ? EncryptionKey.passphrase(secret.bytes) : try EncryptionKey.raw(secret.bytes)
                    let database = try openSample(folder.file("store-\(isPassphrase)"), key: key)
                    secret.hide()
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

    /// Random bytes that can be hidden from a search of the process's memory.
    private final class SecretBuffer {
        let bytes: UnsafeMutableBufferPointer<UInt8>
        private let mask: UInt8 = 0x5c

        init(count: Int) { bytes = .allocate(capacity: count) }

        func fill() {
            for index in bytes.indices { bytes[index] = .random(in: 0...255) }
        }

        /// Changes every byte; the search looks for the original ones.
        func hide() {
            for index in bytes.indices { bytes[index] ^= mask }
        }

        /// Whether the first 16 original bytes, or their hexadecimal digits, are anywhere in writable memory.
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
            let (first, second) = (Int32(bytes[0] ^ mask), bytes[1] ^ mask)
            let digits = hexadecimal(bytes[0] ^ mask)
            return find(first, in: memory) { $0.count >= 16 && $0[1] == second && matches($0) }
                || find(Int32(digits.0), in: memory) { $0.count >= 32 && $0[1] == digits.1 && matchesDigits($0) }
        }

        private func find(
            _ byte: Int32,
            in memory: UnsafeRawBufferPointer,
            _ isMatch: (UnsafeRawBufferPointer) -> Bool
        ) -> Bool {
            var rest = memory
            while let hit = memchr(rest.baseAddress!, byte, rest.count) {
                let offset = UnsafeRawPointer(hit) - rest.baseAddress!
                let found = UnsafeRawBufferPointer(rebasing: rest[offset...])
                if isMatch(found) { return true }
                guard found.count > 1 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: found[1...])
            }
            return false
        }

        private func matches(_ memory: UnsafeRawBufferPointer) -> Bool {
            (0..<16).allSatisfy { memory[$0] == bytes[$0] ^ mask }
        }

        private func matchesDigits(_ memory: UnsafeRawBufferPointer) -> Bool {
            (0..<16).allSatisfy { (memory[2 * $0], memory[2 * $0 + 1]) == hexadecimal(bytes[$0] ^ mask) }
        }

        private func hexadecimal(_ byte: UInt8) -> (UInt8, UInt8) {
            func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
            return (digit(byte >> 4), digit(byte & 15))
        }
    }
#endif
