import ObjectGraph

/// The division of live results into sections, in chunks: a copy shares the chunks that are not changed.
///
/// A change of one section moves the elements of one chunk, and updates the counts of the chunks after it: O(256 + *s*
/// / 256) steps of about a nanosecond for *s* sections.
struct SectionLayout<Title: Hashable> {
    private static var chunkSize: Int { 256 }

    private var titleChunks: [[Title]] = []
    /// The value of the sort key of the sections' entries; empty chunks if the order is unknown.
    private var valueChunks: [[Value]] = []
    /// The number of entries in each section.
    private(set) var sizes = SectionSizes()
    /// Whether entries with the same title have different values of the sort key, such as texts that differ in
    /// normalization, so that sections cannot be found by their values.
    private var hasMergedSections = false

    /// The number of sections.
    var count: Int { sizes.count }
    /// The titles in their order.
    var titles: [Title] { titleChunks.flatMap(\.self) }

    /// The title of a section.
    ///
    /// - Complexity: O(log *s*).
    func title(of section: Int) -> Title {
        let (chunk, index) = sizes.location(ofSection: section)
        return titleChunks[chunk][index]
    }

    /// The positions of a section's entries.
    ///
    /// - Complexity: O(log *s*).
    func range(of section: Int) -> Range<Int> { sizes.range(of: section) }

    /// The section that contains a position.
    ///
    /// - Complexity: O(log *s*).
    func section(containing position: Int) -> Int { sizes.section(containing: position) }

    /// The section with a title; nil if there is none.
    ///
    /// - Complexity: O(*s*).
    func section(titled title: Title) -> Int? {
        var before = 0
        for chunk in titleChunks {
            if let index = chunk.firstIndex(of: title) { return before + index }
            before += chunk.count
        }
        return nil
    }

    // MARK: Making

    /// Adds entries behind the last section.
    ///
    /// - Parameter value: The value of their sort key; nil if the order is unknown.
    mutating func append(_ title: Title, _ value: Value?, size: Int) {
        if titleChunks.last?.last == title {
            hasMergedSections = true
            return sizes.change(count - 1, by: size)
        }
        if value == nil { hasMergedSections = true }
        insert(title, value ?? .null, size: size, at: count)
    }

    private mutating func insert(_ title: Title, _ value: Value, size: Int, at section: Int) {
        switch sizes.insert(size, at: section, chunkSize: Self.chunkSize) {
        case .into(let chunk, let index):
            titleChunks[chunk].insert(title, at: index)
            valueChunks[chunk].insert(value, at: index)
        case .newChunk:
            titleChunks.append([title])
            valueChunks.append([value])
        }
        if let chunk = sizes.split(largerThan: 2 * Self.chunkSize, near: section) {
            titleChunks.split(chunk, at: Self.chunkSize)
            valueChunks.split(chunk, at: Self.chunkSize)
        }
    }

    private mutating func remove(_ section: Int) {
        let (chunk, index) = sizes.location(ofSection: section)
        titleChunks[chunk].remove(at: index)
        valueChunks[chunk].remove(at: index)
        if titleChunks[chunk].isEmpty {
            titleChunks.remove(at: chunk)
            valueChunks.remove(at: chunk)
        }
        sizes.remove(section)
    }

    // MARK: Changing

    /// Changes the layout by the entries that have left, entered or moved, and returns the difference between the
    /// sections; nil, and the layout is not changed, if it has to be made anew.
    ///
    /// - Parameters:
    ///   - edits: The entries, before and after the change.
    ///   - order: The order of the sections.
    ///   - title: Returns the title of the entry at a position of the changed results.
    /// - Complexity: O(*k* log *s*) comparisons and O(*k*) titles for *k* entries in *s* sections.
    mutating func apply(
        _ edits: [(old: ResultEntry?, new: ResultEntry?)],
        _ order: QuerySort,
        title: (Int) -> Title?
    ) -> ResultsSectionChanges? {
        guard !hasMergedSections else { return nil }
        var new = self
        // The values of the changed sections, each once.
        var values: [Value] = []
        for edit in edits {
            if let value = edit.old?.sectionValue {
                guard let section = new.section(of: value, order) else { return nil }
                new.sizes.change(section, by: -1)
                values.append(value)
            }
            guard let value = edit.new?.sectionValue else { continue }
            values.append(value)
            if let section = new.section(of: value, order) {
                new.sizes.change(section, by: 1)
            } else {
                // The title of a new section is set once the results have all their entries; until then another title
                // stands for it.
                guard let anyTitle = titleChunks.first?.first ?? title(0) else { return nil }
                new.insert(anyTitle, value, size: 1, at: new.partitioningIndex { order.precedes($0, value) ?? false })
            }
        }
        values.sort { order.precedes($0, $1) ?? false }
        values = values.enumerated().filter { index, value in
            index == 0 || order.precedes(values[index - 1], value) ?? false
        }.map(\.element)
        for value in values {
            if let section = new.section(of: value, order), new.sizes.size(of: section) == 0 { new.remove(section) }
        }
        var differences: [IndexChanges.Difference] = []
        for value in values {
            let (oldSection, newSection) = (section(of: value, order), new.section(of: value, order))
            if let newSection {
                guard let title = title(new.range(of: newSection).lowerBound) else { return nil }
                new.setTitle(title, of: newSection)
            }
            if let oldSection, let newSection, self.title(of: oldSection) == new.title(of: newSection) { continue }
            if let oldSection { differences.append(.init(old: oldSection, new: nil)) }
            if let newSection { differences.append(.init(old: nil, new: newSection)) }
        }
        for value in values {
            guard let section = new.section(of: value, order) else { continue }
            for neighbor in [section - 1, section + 1] where (0..<new.count).contains(neighbor) {
                if new.title(of: neighbor) == new.title(of: section) { return nil }
            }
        }
        let changes = ResultsSectionChanges(IndexChanges(differences), sizes, new.sizes)
        self = new
        return changes
    }

    private mutating func setTitle(_ title: Title, of section: Int) {
        let (chunk, index) = sizes.location(ofSection: section)
        titleChunks[chunk][index] = title
    }

    /// The section whose entries have a value of the sort key.
    private func section(of value: Value, _ order: QuerySort) -> Int? {
        let section = partitioningIndex { order.precedes($0, value) ?? false }
        guard section < count else { return nil }
        let (chunk, index) = sizes.location(ofSection: section)
        return order.precedes(value, valueChunks[chunk][index]) == nil ? section : nil
    }

    /// The number of leading sections for whose values `precedes` holds.
    private func partitioningIndex(where precedes: (Value) -> Bool) -> Int {
        let chunk = valueChunks.partitioningIndex { precedes($0[0]) } - 1
        guard chunk >= 0 else { return 0 }
        return sizes.sectionsBefore(chunk: chunk) + valueChunks[chunk].partitioningIndex(where: precedes)
    }
}

extension Array {
    /// The number of leading elements for which `precedes` holds; it holds for no element after them.
    fileprivate func partitioningIndex(where precedes: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if precedes(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Divides an element that is a list into two.
    fileprivate mutating func split<Member>(_ position: Int, at index: Int) where Element == [Member] {
        let rest = Array<Member>(self[position][index...])
        self[position].removeLast(rest.count)
        insert(rest, at: position + 1)
    }
}
