import Foundation

/// Blocks threads until `count` of them have arrived, at most two minutes, so that a test fails instead of hanging.
///
/// `@unchecked Sendable`: `missing` is only accessed under the condition's lock.
final class Barrier: @unchecked Sendable {
    private let condition = NSCondition()
    private var missing: Int

    init(count: Int) { missing = count }

    func arrive() {
        condition.lock()
        defer { condition.unlock() }
        missing -= 1
        if missing <= 0 { condition.broadcast() }
        let deadline = Date(timeIntervalSinceNow: 120)
        while missing > 0 {
            guard condition.wait(until: deadline) else { return }
        }
    }
}

/// Runs a body in `count` new threads at the same time, each with a number from 0, and waits for all of them.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let end = DispatchGroup()
    for number in 0..<count {
        end.enter()
        Thread {
            body(number)
            end.leave()
        }.start()
    }
    end.wait()
}
