import ObjectGraph

/// The numbers of imported objects, and the parts of the source that are left out.
struct ImportFindings {
    private var report = ImportReport()
    private var counts: [ImportReport.EntityCount]
    private var unfit: [UnfitPlace: Int] = [:]

    private struct UnfitPlace: Hashable {
        let entity: String
        let property: String
        let reason: String
    }

    init(_ model: ManagedObjectModel) {
        counts = model.entities.map { ImportReport.EntityCount(entity: $0.name) }
    }

    mutating func countObject(of entity: Entity, isExisting: Bool) {
        if isExisting { counts[entity.index].updated += 1 } else { counts[entity.index].inserted += 1 }
    }

    mutating func countUnfit(_ property: String, of entity: String, _ reason: String, count: Int = 1) {
        unfit[UnfitPlace(entity: entity, property: property, reason: reason), default: 0] += count
    }

    mutating func note(notImported line: String) {
        if !report.notImported.contains(line) { report.notImported.append(line) }
    }

    mutating func note(missing property: String, of entity: String) {
        let name = "\(entity).\(property)"
        if !report.missing.contains(name) { report.missing.append(name) }
    }

    var unfitValues: [UnfitValues] {
        unfit.map { UnfitValues(entity: $0.entity, property: $0.property, reason: $0.reason, count: $1) }
            .sorted { ($0.entity, $0.property, $0.reason) < ($1.entity, $1.property, $1.reason) }
    }

    var finishedReport: ImportReport {
        var report = report
        report.entities = counts.filter { $0.inserted + $0.updated > 0 }
        report.omitted = unfitValues
        return report
    }
}
