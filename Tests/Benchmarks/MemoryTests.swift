import Foundation
import Testing

/// What objects cost in memory, which does not depend on how fast the machine is.
@Suite struct MemoryTests {
    /// In a process of its own: the allocator counts what all threads have.
    @Test func `a fetched clean object takes little more than its row`() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let memory = try MemoryMeasurement(of: Workbench(in: folder, rows: 20_000))
            // In a debug build as in a release build: objects and rows have the same form. 20,000 is a number of objects for
            // which the context's table is half full, as it is on average.
            #expect(memory.bytesPerObject - memory.bytesPerRow < MemoryMeasurement.budget)
        }
    }
}
