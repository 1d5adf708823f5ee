package import Foundation

/// Versions of a file of which single pages can be put back in place of those of the last one.
package struct FileVersions {
    private static let pageByteCount = 4096

    private var versions: [Data] = []

    package init() {}

    /// The number of versions.
    package var count: Int { versions.count }

    /// Adds the present content of a file, which no connection has open.
    package mutating func add(_ url: URL) throws { versions.append(try Data(contentsOf: url)) }

    /// The numbers of the pages of a version, from 2 on, that differ from those of the last version.
    package func outdatedPages(of version: Int) -> [Int] {
        guard let last = versions.last else { return [] }
        let count = min(versions[version].count, last.count) / Self.pageByteCount
        return (2...max(2, count)).filter { page in
            let range = Self.range(of: page)
            return range.upperBound <= last.count && range.upperBound <= versions[version].count
                && versions[version][range] != last[range]
        }
    }

    /// The encrypted bytes of a page.
    package func page(_ number: Int, of version: Int) -> Data { versions[version].subdata(in: Self.range(of: number)) }

    /// Writes the last version to a file, with some pages of an earlier one.
    package func write(to url: URL, withPages pages: [Int], of version: Int) throws {
        guard var content = versions.last else { return }
        for page in pages { content[Self.range(of: page)] = versions[version][Self.range(of: page)] }
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
        try content.write(to: url)
    }

    private static func range(of page: Int) -> Range<Int> { (page - 1) * pageByteCount..<page * pageByteCount }
}
