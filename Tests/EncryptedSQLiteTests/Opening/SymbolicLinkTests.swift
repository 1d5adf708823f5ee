import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// A database opened through symbolic links is their target, with its log.
@Suite struct SymbolicLinkTests {
    enum Route: CaseIterable {
        case absoluteLink, relativeLink, chain, linkToFolder, descriptor
    }

    let folder = TemporaryFolder()
    let links = TemporaryFolder()
    var path: String { folder.filePath("store") }

    init() throws {
    }

    private func make(_ route: Route) throws -> String {
        let manager = FileManager.default
        let link = links.filePath("link")
        switch route {
        case .absoluteLink: try manager.createSymbolicLink(atPath: link, withDestinationPath: path)
        case .relativeLink:
            let name = (folder.path as NSString).lastPathComponent
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "../\(name)/store")
        case .chain:
            try manager.createSymbolicLink(atPath: links.filePath("second"), withDestinationPath: path)
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "second")
        case .linkToFolder:
            try manager.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
            return link + "/store"
        case .descriptor: return "/proc/self/fd/\(open(path, O_RDWR | O_CLOEXEC))"
        }
        return link
    }

    @Test(arguments: Route.allCases, [false, true])
    func `the log is read`(_ route: Route, _ readOnly: Bool) throws {
        let writer = try openSample(path)
        try writer.write { try insert(1...300, into: $0) }
        let database = try openSample(try make(route), options: sampleOptions { $0.readOnly = readOnly })
        #expect(try database.read { try $0.itemCount() } == 300)
        try writer.write { try insert(301...305, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 305)
        try database.close()
        try writer.close()
        #expect(try links.names().filter { $0.contains("-") } == [])
    }

    @Test(arguments: Route.allCases)
    func `the log of a crashed process is read`(_ route: Route) throws {
        let other = TemporaryFolder()
        let writer = try openSample(other.filePath("store"))
        try writer.write { try insert(1...300, into: $0) }
        try Leftover.log.copy(other.filePath("store"), to: path)
        let database = try openSample(try make(route))
        #expect(try database.read { try $0.itemCount() } == 300)
        try database.close()
        #expect(try folder.names() == ["store"])
    }

    @Test func `further connections open the same file after a link changed`() throws {
        try makeSample(path, rows: 3)
        try makeSample(folder.filePath("other"), rows: 5)
        let link = try make(.absoluteLink)
        let database = try openSample(link)
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.filePath("other"))
        #expect(try database.write { try $0.itemCount() } == 3)
    }

    @Test func `a new database through a link to its folder`() throws {
        let database = try openSample(try make(.linkToFolder))
        try database.write { try insert(1...3, into: $0) }
        #expect(try folder.names() == ["store", "store-shm", "store-wal"])
    }
}
