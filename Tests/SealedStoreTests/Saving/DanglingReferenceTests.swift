import Dispatch
import Foundation
import Guarded
import Journal
@testable import ObjectGraph
import SealedStore
import TestSupport
import Testing

@Suite("References in a store with many random writers") struct DanglingReferenceTests {
    // process 1                  process 2                  this process
    // a context                  a context                  two containers with two contexts each
    // all insert objects, relate and delete objects that they have read earlier, and save, under any merge policy
    @Test(arguments: 0..<3)
    func `no reference dangles`(round: Int) throws {
        let folder = TemporaryFolder()
        let url = folder.file("links.store")
        var random = SeededGenerator()
        print(random)
        let coordinators = [try LinkWorkload.openStore(url), try LinkWorkload.openStore(url)]
        let writers = try (0..<2).map { _ in try WriterProcess(url, String(random.next()), "400") }
        let seeds = (0..<4).map { _ in random.next() }
        let failures = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            do {
                var workload = LinkWorkload(coordinators[number % 2], seed: seeds[number])
                try workload.run(steps: 400)
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        for writer in writers {
            #expect(try writer.waitUntilExit() == 0, "\(random)")
        }
        let errors = failures.withLock { $0 }
        #expect(errors == [], "\(random)")
        let store = try coordinators[0].store(for: coordinators[0].model.entities[0]).store as? SealedStore
        let problems = try store?.check()
        #expect(problems == [], "\(random)")
        for coordinator in coordinators { try coordinator.removeAllStores() }
    }
}
