/// The packages of one or several indexes, each name once.
struct PackageCatalogue {
    /// The records, in the order in which their names first appeared.
    private(set) var records: [PackageRecord] = []
    /// The number of stanzas for a package that another stanza describes in another version or architecture.
    private(set) var mergedCount = 0

    private var positions: [String: Int] = [:]

    /// Adds a record, unless the catalogue has a newer version. Of two equal versions the last one is kept.
    mutating func add(_ record: PackageRecord) {
        guard let position = positions[record.name] else {
            positions[record.name] = records.count
            records.append(record)
            return
        }
        mergedCount += 1
        if DebianVersion(records[position].version) <= DebianVersion(record.version) {
            records[position] = record
        }
    }
}
