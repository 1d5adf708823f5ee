/// The packages of one or several indexes, each name once.
struct PackageCatalogue {
    /// The records, in the order in which their names first appeared.
    private(set) var records: [PackageRecord] = []
    /// How many stanzas told of a package that another one tells of too, for another version or architecture.
    private(set) var mergedCount = 0

    private var positions: [String: Int] = [:]

    /// Adds a record, unless there is one of a newer version. Of two equal ones the last counts.
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
