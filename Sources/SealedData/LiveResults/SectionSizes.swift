import ObjectGraph

/// The sizes of the sections of live results, in chunks: a copy shares the chunks that are not changed.
struct SectionSizes: Sendable {
    /// The place of an inserted section.
    enum Insertion {
        case into(chunk: Int, index: Int)
        case newChunk
    }

    /// The end of each section, from the start of its chunk on.
    private var chunks: [[Int]] = []
    /// The numbers of sections and of elements before each chunk, and of all.
    private var sectionStarts = [0]
    private var elementStarts = [0]

    /// No sections.
    init() {}

    /// One section.
    init(oneOf size: Int) {
        _ = insert(size, at: 0, chunkSize: 1)
    }

    /// The number of sections.
    var count: Int { sectionStarts[chunks.count] }
    /// The number of elements of all sections.
    var elementCount: Int { elementStarts[chunks.count] }

    /// The sizes in their order.
    var array: [Int] {
        var sizes: [Int] = []
        sizes.reserveCapacity(count)
        for chunk in chunks {
            var start = 0
            for end in chunk {
                sizes.append(end - start)
                start = end
            }
        }
        return sizes
    }

    // MARK: Reading

    /// The chunk of a section, and its position in the chunk.
    func location(ofSection section: Int) -> (chunk: Int, index: Int) {
        precondition(section >= 0 && section < count, "there is no section at this position")
        let chunk = sectionStarts.count(below: section + 1) - 1
        return (chunk, section - sectionStarts[chunk])
    }

    /// The number of sections before a chunk.
    func sectionsBefore(chunk: Int) -> Int { sectionStarts[chunk] }

    /// The positions of a section's elements.
    func range(of section: Int) -> Range<Int> {
        let (chunk, index) = location(ofSection: section)
        let start = index == 0 ? 0 : chunks[chunk][index - 1]
        return elementStarts[chunk] + start..<elementStarts[chunk] + chunks[chunk][index]
    }

    /// The number of elements of a section.
    func size(of section: Int) -> Int { range(of: section).count }

    /// The section that contains the element at a position.
    func section(containing position: Int) -> Int {
        precondition(position >= 0 && position < elementCount, "there is no element at this position")
        let chunk = elementStarts.count(below: position + 1) - 1
        return sectionStarts[chunk] + chunks[chunk].count(below: position - elementStarts[chunk] + 1)
    }

    /// The section that contains the element at a position, and the position of the element in it.
    func location(of position: Int) -> (section: Int, index: Int) {
        let section = section(containing: position)
        return (section, position - range(of: section).lowerBound)
    }

    // MARK: Changing

    /// Adds a number to the size of a section.
    mutating func change(_ section: Int, by difference: Int) {
        let (chunk, index) = location(ofSection: section)
        for later in index..<chunks[chunk].count { chunks[chunk][later] += difference }
        for later in chunk + 1..<elementStarts.count { elementStarts[later] += difference }
    }

    /// Inserts a section before the section at a position, or at the end.
    mutating func insert(_ size: Int, at section: Int, chunkSize: Int) -> Insertion {
        if section == count, chunks.last.map({ $0.count >= chunkSize }) ?? true {
            sectionStarts.append(count + 1)
            elementStarts.append(elementCount + size)
            chunks.append([size])
            return .newChunk
        }
        let chunk = min(sectionStarts.count(below: section + 1), chunks.count) - 1
        let index = section - sectionStarts[chunk]
        chunks[chunk].insert(index == 0 ? 0 : chunks[chunk][index - 1], at: index)
        for later in chunk + 1..<sectionStarts.count { sectionStarts[later] += 1 }
        change(section, by: size)
        return .into(chunk: chunk, index: index)
    }

    /// Divides the chunk of a section into two if it is larger than a limit, and returns it.
    mutating func split(largerThan limit: Int, near section: Int) -> Int? {
        let chunk = location(ofSection: section).chunk
        guard chunks[chunk].count > limit else { return nil }
        let half = limit / 2
        let size = chunks[chunk][half - 1]
        let rest = chunks[chunk][half...].map { $0 - size }
        chunks[chunk].removeLast(rest.count)
        chunks.insert(rest, at: chunk + 1)
        sectionStarts.insert(sectionStarts[chunk] + half, at: chunk + 1)
        elementStarts.insert(elementStarts[chunk] + size, at: chunk + 1)
        return chunk
    }

    /// Removes a section without elements.
    mutating func remove(_ section: Int) {
        let (chunk, index) = location(ofSection: section)
        precondition(size(of: section) == 0, "only a section without elements is removed")
        chunks[chunk].remove(at: index)
        for later in chunk + 1..<sectionStarts.count { sectionStarts[later] -= 1 }
        guard chunks[chunk].isEmpty else { return }
        chunks.remove(at: chunk)
        sectionStarts.remove(at: chunk + 1)
        elementStarts.remove(at: chunk + 1)
    }
}

extension SectionSizes: Hashable {
    static func == (left: SectionSizes, right: SectionSizes) -> Bool {
        // Equal sizes can be divided into different chunks. Comparing chunks that both values share takes no time.
        left.sectionStarts == right.sectionStarts
            ? left.chunks == right.chunks : left.count == right.count && left.array == right.array
    }

    func hash(into hasher: inout Hasher) { hasher.combine(array) }
}
