import Foundation
import Journal
import ObjectGraph

/// The time and the memory of a migration that rebuilds a table and builds an index over texts.
struct MigrationMeasurement {
    private let rows: Int
    private var seconds = 0.0
    private var peak = 0

    private static let batch = 10_000

    static let header = "              rows  migrate: remove an attribute, add an index     peak memory"

    var line: String {
        String(
            format: "%10d %35.0f ns/row %15.1f MB",
            rows,
            seconds / Double(max(1, rows)) * 1e9,
            Double(peak) / 1e6
        )
    }

    init(rows: Int, in folder: URL) throws {
        self.rows = rows
        let file = folder.appending(path: "migrated.store")
        let coordinator = try Self.open(file, isMigrated: false)
        for start in stride(from: 0, to: rows, by: Self.batch) {
            let context = ManagedObjectContext(coordinator: coordinator)
            for number in start..<min(start + Self.batch, rows) {
                let item = ManagedObject(entity: coordinator.model.entities[0], insertInto: context)
                item["number"] = .integer(Int64(number))
                // In no order, and of 32 bytes.
                let digits = String(UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
                item["name"] = .text(String(repeating: "0", count: 32 - digits.count) + digits)
            }
            try context.save()
        }
        try coordinator.removeAllStores()
        let before = ResidentMemory.bytes
        ResidentMemory.resetPeak()
        let start = DispatchTime.now().uptimeNanoseconds
        try Self.open(file, isMigrated: true).removeAllStores()
        seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        peak = ResidentMemory.peak - before
    }

    private static func open(_ file: URL, isMigrated: Bool) throws -> PersistentStoreCoordinator {
        var item = EntityDescription("Item", attributes: [AttributeDescription("name", .string)])
        if isMigrated {
            item.indexes = [FetchIndexDescription(["name"])]
        } else {
            item.attributes.append(AttributeDescription("number", .int64))
        }
        return try openCoordinator(file, model: ManagedObjectModel(entities: [item]))
    }
}
