package import Foundation

/// A write-ahead log with valid checksums, which anyone can write: they prove no key.
package struct ForgedLog {
    package private(set) var bytes = Data()
    private var sums: (UInt32, UInt32) = (0, 0)
    private static let salts: [UInt32] = [1, 2]

    package init(pageByteCount: UInt32 = 4096) {
        // The magic number stands for checksums over big-endian words.
        add([0x377F_0683, 3_007_000, pageByteCount, 0] + Self.salts)
        append(words: [sums.0, sums.1])
    }

    /// Copies the frames of a log, and completes their checksums.
    ///
    /// - Parameter change: Receives the number of each frame, from 0 on, and its page.
    package init(_ log: Data, changing change: (Int, inout Data) -> Void) {
        self.init()
        append(log, changing: change)
    }

    /// Appends the frames of a log.
    package mutating func append(_ log: Data, changing change: (Int, inout Data) -> Void = { _, _ in }) {
        let log = Array(log)
        for (number, start) in stride(from: 32, through: log.count - 4120, by: 4120).enumerated() {
            func word(_ offset: Int) -> UInt32 { log[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
            var content = Data(log[start + 24..<start + 4120])
            change(number, &content)
            append(page: word(start), content, size: word(start + 4))
        }
    }

    /// Appends a frame; one that ends a transaction if the size of the database is not 0.
    package mutating func append(page: UInt32, _ content: Data, size: UInt32) {
        add([page, size])
        append(words: Self.salts)
        sum(content)
        append(words: [sums.0, sums.1])
        bytes += content
    }

    private mutating func add(_ words: [UInt32]) {
        let start = bytes.count
        append(words: words)
        sum(bytes[start...])
    }

    private mutating func append(words: [UInt32]) {
        for word in words { withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) } }
    }

    /// Adds bytes to the checksum (SQLite file format, section 4.2).
    private mutating func sum(_ content: Data) {
        let words = stride(from: content.startIndex, to: content.endIndex, by: 4).map { start in
            content[start..<start + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        }
        for index in stride(from: 0, to: words.count, by: 2) {
            sums.0 = sums.0 &+ words[index] &+ sums.1
            sums.1 = sums.1 &+ words[index + 1] &+ sums.0
        }
    }
}
