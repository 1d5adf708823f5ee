import Dispatch
import Foundation
import Synchronization

/// Gives Dispatch the file descriptors of its timers and watched files, before a database uses them.
///
/// On Linux, Dispatch opens them when the process uses the first timer, and ends the process if there are not enough.
enum DispatchDescriptors {
    #if canImport(Darwin)
        static func require(for path: String) throws(DatabaseError) {}
    #else
        /// Dispatch needs four: for events, for the wake-up, and for two clocks. Other threads may open as many before
        /// Dispatch opens its own. A database needs more than eight in any case.
        private static let count = 8
        private static let areOpen = Atomic<Bool>(false)

        /// Makes Dispatch open its descriptors, once for the process.
        ///
        /// - Throws: The system's error if there are not enough; then the next call tries again.
        static func require(for path: String) throws(DatabaseError) {
            guard !areOpen.load(ordering: .relaxed) else { return }
            var reserved: [Int32] = []
            defer { for descriptor in reserved { close(descriptor) } }
            for _ in 0..<count {
                let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: path) }
                reserved.append(descriptor)
            }
            for descriptor in reserved { close(descriptor) }
            reserved = []
            // Dispatch opens the descriptors on a thread of its own: without the wait, the database might take them
            // first. A separate queue gets a thread even if all threads of the global queue wait here.
            let timer = DispatchSemaphore(value: 0)
            DispatchQueue(label: "SealedData.descriptors").asyncAfter(deadline: .now()) { timer.signal() }
            timer.wait()
            areOpen.store(true, ordering: .relaxed)
        }
    #endif
}
