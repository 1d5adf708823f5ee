import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Special files are refused before SQLite opens them: opening a FIFO, for example, waits forever.
@Suite struct SpecialFileTests {
    enum Kind: CaseIterable {
        case fifo, socket, device, folder, danglingLink, linkLoop

        func make(_ path: String) throws {
            switch self {
            case .fifo: try #require(mkfifo(path, 0o600) == 0)
            case .socket: try makeSocket(path)
            case .device: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
            case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .danglingLink: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "missing")
            case .linkLoop:
                let name = (path as NSString).lastPathComponent
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: name)
            }
        }
    }

    let folder = TemporaryFolder()
    var path: String { folder.filePath("store") }

    private func expectRefusal(_ refusedPath: String, _ open: () throws -> Database) throws {
        let before = try folder.names()
        guard case .cannotOpen(path: refusedPath, _) = databaseError(open) else {
            Issue.record("\(String(describing: databaseError(open)))")
            return
        }
        #expect(try folder.names() == before)
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `in the place of the database`(_ kind: Kind, _ readOnly: Bool) throws {
        try kind.make(path)
        try expectRefusal(path) { try openSample(path, options: sampleOptions { $0.readOnly = readOnly }) }
    }

    @Test(arguments: Kind.allCases, ["-wal", "-shm", "-journal"])
    func `beside the database`(_ kind: Kind, _ suffix: String) throws {
        try makeSample(path)
        try kind.make(path + suffix)
        for readOnly in [false, true] {
            try expectRefusal(path + suffix) { try openSample(path, options: sampleOptions { $0.readOnly = readOnly }) }
        }
    }

    @Test(arguments: Kind.allCases, ["-wal", "-shm", "-journal"])
    func `at the path of a new database`(_ kind: Kind, _ suffix: String) throws {
        try kind.make(path + suffix)
        try expectRefusal(path + suffix) { try openSample(path) }
    }

    @Test func `a path with a zero byte`() throws {
        try expectRefusal(path + "\0x") { try openSample(path + "\0x") }
        #expect(try folder.names() == [])
    }
}

/// Creates a socket without a listener.
private func makeSocket(_ path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { buffer in
        for (index, byte) in path.utf8.enumerated() { buffer[index] = byte }
    }
    let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(result == 0)
}
