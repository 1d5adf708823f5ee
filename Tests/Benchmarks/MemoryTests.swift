import Foundation
import TestSupport
import Testing

/// The memory of objects, which does not depend on the speed of the machine.
@Suite struct MemoryTests {
    /// In a separate process: the allocator counts the memory of all threads.
    @Test func `a fetched clean object takes little more than its row`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let memory = try MemoryMeasurement(of: Workbench(in: folder.url, rows: 20_000))
            // Objects and rows have the same layout in debug and release builds.
            #expect(memory.bytesPerObject - memory.bytesPerRow < MemoryMeasurement.budget)
            // The object itself; rows, keys and results lie in a few large blocks. Unoptimized code also allocates
            // temporary values.
            let limit = _isDebugAssertConfiguration() ? 7.1 : 1.05
            if let allocations = memory.allocationsPerObject {
                #expect((1...limit).contains(allocations), "\(allocations) allocations for each object")
            }
        }
    }
}
