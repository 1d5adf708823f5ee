#if os(Linux)
    import Foundation

    /// Random bytes that can be searched for in the memory of the process.
    ///
    /// The bytes are kept masked, so that a search finds only copies made by the code under test. A test that searches
    /// runs in a separate process.
    package final class HiddenSecret {
        private let masked: [UInt8]
        private let mask: UInt8 = 0x5c

        package init(count: Int = 32) { masked = (0..<count).map { _ in .random(in: 0...255) } }

        /// Whether the memory of the process can be searched: a sanitizer reserves terabytes of addresses for its
        /// shadow memory, so that a search would practically never end.
        package static let isSearchable: Bool = {
            let process = dlopen(nil, RTLD_NOW)
            defer { if let process { dlclose(process) } }
            return dlsym(process, "__tsan_init") == nil && dlsym(process, "__asan_init") == nil
        }()

        /// Passes the bytes to `body` in memory that is overwritten afterwards.
        package func withBytes<R>(_ body: (UnsafeMutableBufferPointer<UInt8>) throws -> R) rethrows -> R {
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: masked.count)
            for index in masked.indices { bytes[index] = byte(index) }
            defer {
                explicit_bzero(bytes.baseAddress!, bytes.count)
                bytes.deallocate()
            }
            return try body(bytes)
        }

        /// Whether the first 16 bytes, or their hexadecimal digits, are anywhere in writable memory.
        package func isInMemory() throws -> Bool {
            try isInMemory(Self.mappings().filter(\.isWritable))
        }

        /// Whether they are in writable memory that a core dump contains.
        package func isInCoreDump() throws -> Bool {
            try isInMemory(Self.mappings().filter { $0.isWritable && !$0.isOmittedFromCoreDumps })
        }

        /// A part of the memory, with the properties of proc(5).
        private struct Mapping {
            let range: Range<UInt64>
            let isWritable: Bool
            var isOmittedFromCoreDumps = false
        }

        private static func mappings() throws -> [Mapping] {
            var mappings: [Mapping] = []
            // Not by `String(contentsOfFile:)`, which reads the first page of such a file only.
            let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps"))
            let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
                if bounds.count == 2 {
                    mappings.append(Mapping(range: bounds[0]..<bounds[1], isWritable: words[1].hasPrefix("rw")))
                } else if words[0] == "VmFlags:" {
                    mappings[mappings.count - 1].isOmittedFromCoreDumps = words.contains("dd")
                }
            }
            return mappings
        }

        private func isInMemory(_ mappings: [Mapping]) throws -> Bool {
            let descriptor = open("/proc/self/mem", O_RDONLY)
            defer { close(descriptor) }
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            // The next search must not find the copies of this one.
            defer {
                explicit_bzero(chunk.baseAddress!, chunk.count)
                chunk.deallocate()
            }
            for range in mappings.map(\.range) {
                var start = range.lowerBound
                while start < range.upperBound {
                    // Not beyond the range: the next one may be of another kind.
                    let length = min(chunk.count, Int(range.upperBound - start))
                    let count = pread(descriptor, chunk.baseAddress, length, off_t(start))
                    guard count > 0 else { break }
                    if isIn(UnsafeRawBufferPointer(rebasing: chunk[..<count])) { return true }
                    guard start + UInt64(count) < range.upperBound else { break }
                    // Chunks overlap, so that a secret across their border is found.
                    start += UInt64(max(count - 64, 1))
                }
            }
            return false
        }

        private func isIn(_ memory: UnsafeRawBufferPointer) -> Bool {
            let digits = hexadecimal(byte(0))
            return find(byte(0), in: memory) { $0.count >= 16 && $0[1] == byte(1) && matches($0) }
                || find(digits.0, in: memory) { $0.count >= 32 && $0[1] == digits.1 && matchesDigits($0) }
        }

        private func find(
            _ byte: UInt8,
            in memory: UnsafeRawBufferPointer,
            _ isMatch: (UnsafeRawBufferPointer) -> Bool
        ) -> Bool {
            var rest = memory
            while let hit = memchr(rest.baseAddress!, Int32(byte), rest.count) {
                let offset = UnsafeRawPointer(hit) - rest.baseAddress!
                let found = UnsafeRawBufferPointer(rebasing: rest[offset...])
                if isMatch(found) { return true }
                guard found.count > 1 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: found[1...])
            }
            return false
        }

        private func matches(_ memory: UnsafeRawBufferPointer) -> Bool {
            (0..<16).allSatisfy { memory[$0] == byte($0) }
        }

        private func matchesDigits(_ memory: UnsafeRawBufferPointer) -> Bool {
            (0..<16).allSatisfy { (memory[2 * $0], memory[2 * $0 + 1]) == hexadecimal(byte($0)) }
        }

        private func byte(_ index: Int) -> UInt8 { masked[index] ^ mask }

        private func hexadecimal(_ byte: UInt8) -> (UInt8, UInt8) {
            func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
            return (digit(byte >> 4), digit(byte & 15))
        }
    }
#endif
