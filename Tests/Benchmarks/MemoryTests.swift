import Foundation
import TestSupport
import Testing

/// What objects cost in memory, which does not depend on how fast the machine is.
@Suite struct MemoryTests {
    /// In a process of its own: the allocator counts what all threads have.
    @Test func `a fetched clean object takes little more than its row`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let memory = try MemoryMeasurement(of: Workbench(in: folder.url, rows: 20_000))
            // In a debug build as in a release build: objects and rows have the same form.
            #expect(memory.bytesPerObject - memory.bytesPerRow < MemoryMeasurement.budget)
            // The object itself; rows, keys and results lie in a few large blocks. Code that is not optimized allocates for
            // values on their way, too.
            let limit = _isDebugAssertConfiguration() ? 7.1 : 1.05
            if let allocations = memory.allocationsPerObject {
                #expect((1...limit).contains(allocations), "\(allocations) allocations for each object")
            }
        }
    }
}
