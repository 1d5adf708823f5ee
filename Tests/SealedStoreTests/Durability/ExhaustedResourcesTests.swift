import EncryptedSQLite
import Foundation
import Journal
import ObjectGraph
import TestSupport
import Testing

@testable import SealedStore

/// The operating system refuses disk space, file descriptors or the permission to write.
///
/// The failure model: a system call fails at any point of a save, and the cause ends later. The failure is an error of
/// the package, saved objects stay, and the context saves its changes after the cause has ended. Limits apply to a
/// whole process, so that each test runs in a separate one.
@Suite struct ExhaustedResourcesTests {
    @Test func `a save on a full disk loses nothing and succeeds later`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            // Limits from next to nothing to almost enough, so that different writes fail.
            var failures = 0
            for room in [0, 1, 4096, 5000, 40_000, 130_000, 260_000, 390_000] {
                let folder = TemporaryFolder()
                let library = try Library(folder.file("library.store"))
                Resources.insert(0..<50, into: library)
                try library.context.save()
                let largest = try Resources.sizes(in: folder).max() ?? 0
                Resources.insert(50..<250, into: library)
                let limit = ResourceLimit(.fileSize, largest + room)
                do {
                    try library.context.save()
                } catch {
                    failures += 1
                    #expect(Resources.isTyped(error), "\(error)")
                    #expect(library.context.insertedObjects.count == 200)
                    #expect(try Resources.labels(library) == Set(0..<50))
                    // A second attempt may fail as well.
                    try? library.context.save()
                }
                Resources.insert(250..<251, into: library)
                limit.lift()
                try library.context.save()
                #expect(try Resources.labels(library) == Set(0..<251))
                #expect(try library.check() == [])
                #expect(try Resources.labels(try Library(folder.file("library.store"))) == Set(0..<251))
            }
            #expect(failures >= 5, "the limits leave room for the save")
        }
    }

    @Test func `a change of the key on a full disk leaves the old key in force and succeeds later`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let folder = TemporaryFolder()
            let library = try Library(folder.file("library.store"))
            Resources.insert(0..<200, into: library)
            try library.context.save()
            let store = try #require(library.coordinator.sealedStores.first)
            let key = EncryptionKey.passphrase("another passphrase")
            for (round, room) in [0, 1, 4096, 40_000, 200_000].enumerated() {
                let limit = ResourceLimit(.fileSize, room)
                let error = #expect(throws: (any Error).self) { try store.changeKey(to: key) }
                limit.lift()
                #expect(error.map(Resources.isTyped) ?? false, "\(String(describing: error))")
                #expect(try !folder.names().contains(".library.store.replacing"))
                Resources.insert(200 + round..<201 + round, into: library)
                try library.context.save()
                #expect(try Resources.labels(try Library(folder.file("library.store"))) == Set(0..<201 + round))
            }
            try store.changeKey(to: key)
            #expect(try Resources.labels(library) == Set(0..<205))
            #expect(try library.check() == [])
            #expect(try Resources.labels(try Library(folder.file("library.store"), key: key)) == Set(0..<205))
        }
    }

    @Test func `without file descriptors reads and saves return the right result or an error`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let library = try Library(folder.file("library.store"))
            Resources.insert(0..<50, into: library)
            try library.context.save()
            let before = Resources.openDescriptors()
            let limit = ResourceLimit(.descriptors, (before.max() ?? 0) + 1)
            let fillers = Resources.takeAllDescriptors()
            // Each thread needs another connection, which cannot be opened.
            let coordinator = library.coordinator
            let entity = library.entity("Tag")
            let outcomes = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        let context = ManagedObjectContext(coordinator: coordinator)
                        do {
                            let count = try context.fetch(FetchRequest(entity), as: ManagedObject.self).count
                            return count == 50 ? nil : "\(count) objects"
                        } catch {
                            return Resources.isTyped(error) ? nil : "\(error)"
                        }
                    }
                }
                return await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(outcomes.compactMap(\.self) == [])
            let error = #expect(throws: (any Error).self) { try Library(folder.file("library.store")) }
            #expect(error.map(Resources.isTyped) ?? false, "\(String(describing: error))")
            #expect(throws: DatabaseError.self) { _ = try NewFolder(at: folder.file("folder")) }
            Resources.insert(50..<60, into: library)
            do {
                try library.context.save()
            } catch {
                #expect(Resources.isTyped(error), "\(error)")
                #expect(library.context.insertedObjects.count == 10)
            }
            limit.lift()
            #expect(try !folder.names().contains { $0.hasSuffix(".creating") })
            for filler in fillers { close(filler) }
            try library.context.save()
            #expect(try Resources.labels(library) == Set(0..<60))
            #expect(try library.check() == [])
            let other = try Library(folder.file("library.store"))
            #expect(try Resources.labels(other) == Set(0..<60))
            try other.coordinator.removeAllStores()
            try coordinator.removeAllStores()
            #expect(Resources.openDescriptors().count <= before.count, "a failed attempt left descriptors open")
        }
    }

    // Dispatch ends a process that has no descriptors left for its first timer.
    @Test func `a process that can open few files gets an error at the first opening`() throws {
        var statuses: [Int32] = []
        for limit in Array(5...20) + [512] {
            let folder = TemporaryFolder()
            let command = "ulimit -n \(limit); exec \"$0\" \"$@\""
            let arguments = ["-c", command, WriterProcess.tool, folder.filePath("store"), "1", "3"]
            let process = try ChildProcess("/bin/sh", arguments)
            statuses.append(try process.wait().status)
        }
        #expect(Set(statuses) == [0, 1], "\(statuses)")
    }

    @Test func `a file that becomes read-only while it is open loses nothing`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            // The superuser may write to everything.
            if geteuid() == 0 {
                try #require(chown(folder.url.path, 65534, 65534) == 0 && setegid(65534) == 0 && seteuid(65534) == 0)
            }
            let library = try Library(folder.file("library.store"))
            Resources.insert(0..<50, into: library)
            try library.context.save()
            let paths = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).map {
                folder.file($0).path
            }
            for path in paths { chmod(path, 0o400) }
            chmod(folder.url.path, 0o500)
            Resources.insert(50..<60, into: library)
            var isSaved = true
            do {
                try library.context.save()
            } catch {
                #expect(Resources.isTyped(error), "\(error)")
                #expect(library.context.insertedObjects.count == 10)
                isSaved = false
            }
            #expect(try Resources.labels(library) == Set(0..<(isSaved ? 60 : 50)))
            do {
                let other = try Library(folder.file("library.store"))
                Resources.insert(100..<101, into: other)
                try other.context.save()
                Issue.record("a file that cannot be written to was opened and saved to")
            } catch {
                #expect(Resources.isTyped(error), "\(error)")
            }
            chmod(folder.url.path, 0o700)
            for path in paths { chmod(path, 0o600) }
            try library.context.save()
            Resources.insert(60..<70, into: library)
            try library.context.save()
            #expect(try Resources.labels(library) == Set(0..<70))
            #expect(try library.check() == [])
            #expect(try Resources.labels(try Library(folder.file("library.store"))) == Set(0..<70))
        }
    }
}

/// The objects of the tests and their calls of the operating system. Code in a separate process has no `Self`.
private enum Resources {
    static func insert(_ numbers: Range<Int>, into library: Library, length: Int = 2000) {
        for number in numbers {
            library.insert("Tag", ["label": .text("\(number) " + String(repeating: "x", count: length))])
        }
    }

    /// The numbers of the saved tags.
    static func labels(_ library: Library) throws -> Set<Int> {
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let tags = try context.fetch(FetchRequest(library.entity("Tag")), as: ManagedObject.self)
        return Set(
            tags.compactMap { tag in
                guard case .text(let text) = tag["label"] else { return nil }
                return text.split(separator: " ").first.flatMap { Int($0) }
            }
        )
    }

    static func isTyped(_ error: any Error) -> Bool { error is DatabaseError || error is SealedStoreError }

    static func sizes(in folder: TemporaryFolder) throws -> [Int] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).map { name in
            try FileManager.default.attributesOfItem(atPath: folder.file(name).path)[.size] as? Int ?? 0
        }
    }

    /// Opens files until the limit is reached: numbers below the highest one may be free.
    static func takeAllDescriptors() -> [Int32] {
        var all: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY)
            guard descriptor >= 0 else { return all }
            all.append(descriptor)
        }
    }

    static func openDescriptors() -> [Int] { (0..<1024).filter { fcntl(Int32($0), F_GETFD) >= 0 } }
}

/// A limit of the process that ends with ``lift()``.
private struct ResourceLimit {
    enum Resource {
        case fileSize, descriptors
    }

    private let resource: Resource
    private let before: rlimit

    init(_ resource: Resource, _ value: Int) {
        self.resource = resource
        var limit = rlimit()
        getrlimit(Self.number(resource), &limit)
        before = limit
        limit.rlim_cur = rlim_t(value)
        setrlimit(Self.number(resource), &limit)
    }

    func lift() {
        var limit = before
        setrlimit(Self.number(resource), &limit)
    }

    #if canImport(Glibc)
        static func number(_ resource: Resource) -> __rlimit_resource_t {
            switch resource {
            case .fileSize: __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            case .descriptors: __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            }
        }
    #else
        static func number(_ resource: Resource) -> Int32 {
            switch resource {
            case .fileSize: RLIMIT_FSIZE
            case .descriptors: RLIMIT_NOFILE
            }
        }
    #endif
}
