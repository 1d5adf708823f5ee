import EncryptedSQLite
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import SealedStore

/// The failure model: the disk is full at any point of a copy. A limit on the size of files applies to a whole process,
/// so that the test runs in a separate one.
@Suite struct FullDiskCopyTests {
    @Test func `a copy on a full disk is an error and leaves nothing`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let folder = TemporaryFolder()
            let library = try Library(folder.file("library.store"))
            for number in 0..<300 {
                library.insert("Tag", ["label": .text("\(number) " + String(repeating: "x", count: 2000))])
            }
            try library.context.save()
            let store = try #require(try library.store() as? SealedStore)
            let before = try folder.names()
            var failures = 0
            for limit in [0, 4096, 5000, 100_000, 400_000] {
                for form in 0..<5 {
                    var old = rlimit()
                    getrlimit(fileSizeLimit, &old)
                    var new = old
                    new.rlim_cur = rlim_t(limit)
                    setrlimit(fileSizeLimit, &new)
                    do {
                        switch form {
                        case 0: try store.backUp(to: folder.file("copy.store"))
                        case 1: try store.compact(into: folder.file("copy.store"))
                        case 2:
                            _ = try SealedStore.salvage(
                                folder.file("library.store"),
                                key: Library.key,
                                to: folder.file("copy.store")
                            )
                        case 3: try store.changeKey(to: .passphrase("another key"))
                        default: try store.compact()
                        }
                        Issue.record("\(limit) bytes suffice")
                    } catch {
                        failures += 1
                        #expect(error is DatabaseError, "\(error)")
                    }
                    setrlimit(fileSizeLimit, &old)
                    #expect(try folder.names() == before, "\(limit) bytes, \(form)")
                }
            }
            #expect(failures == 25)
            #expect(try library.check() == [])
            try store.backUp(to: folder.file("copy.store"))
            #expect(try Library(folder.file("copy.store")).check() == [])
        }
    }
}

#if canImport(Glibc)
    private let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#else
    private let fileSizeLimit = RLIMIT_FSIZE
#endif
