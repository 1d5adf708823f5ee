import Observation
import Synchronization

/// Returns the number of notifications for the properties that `read` reads while `change` runs: 0 or 1, because a
/// tracking ends with its first notification.
package func notifications(of read: () -> some Any, _ change: () throws -> Void) rethrows -> Int {
    let counter = Counter()
    withObservationTracking {
        _ = read()
    } onChange: {
        counter.count.wrappingAdd(1, ordering: .relaxed)
    }
    try change()
    return counter.count.load(ordering: .relaxed)
}

private final class Counter: Sendable {
    let count = Atomic(0)
}
