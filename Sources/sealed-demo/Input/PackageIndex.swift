import Foundation

/// A file with a package index, plain or in apt's compression.
struct PackageIndex {
    /// The path, as it was given.
    let path: String

    /// The reason why a file cannot be read.
    enum ReadingError: Error, CustomStringConvertible {
        case unreadable(path: String, reason: String)
        case compressed(path: String)
        case binary(path: String)

        var description: String {
            switch self {
            case .unreadable(let path, let reason): "cannot read '\(path)': \(reason)"
            case .compressed(let path): "cannot read '\(path)': it is compressed; unpack it first"
            case .binary(let path): "cannot read '\(path)': it is not text"
            }
        }
    }

    /// The indexes of the archives that apt knows on this machine; none on systems without apt.
    static var listsOfApt: [PackageIndex] {
        let folder = "/var/lib/apt/lists"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix("_Packages") || $0.contains("_Packages.") }.sorted()
            .map { PackageIndex(path: "\(folder)/\($0)") }
    }

    /// The index of the packages that are installed on this machine.
    static let statusOfDpkg = PackageIndex(path: "/var/lib/dpkg/status")

    /// Returns the content.
    ///
    /// - Throws: ``ReadingError``
    func read() throws -> Data {
        let content = try readFile()
        if Self.isCompressed(content) {
            guard let unpacked = unpackWithApt() else { throw ReadingError.compressed(path: path) }
            return unpacked
        }
        if content.prefix(4096).contains(0) { throw ReadingError.binary(path: path) }
        return content
    }

    private func readFile() throws -> Data {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw ReadingError.unreadable(path: path, reason: "it is a folder")
        }
        // `FileHandle` reads pipes as well; `open` provides the system's error message.
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else {
            throw ReadingError.unreadable(path: path, reason: String(cString: strerror(errno)))
        }
        do {
            return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd() ?? Data()
        } catch {
            throw ReadingError.unreadable(path: path, reason: "reading it failed")
        }
    }

    /// Whether a file starts with the signature of gzip, xz, bzip2, lz4 or Zstandard.
    private static func isCompressed(_ content: Data) -> Bool {
        let signatures: [[UInt8]] = [
            [0x1F, 0x8B], [0xFD, 0x37, 0x7A, 0x58, 0x5A], [0x42, 0x5A, 0x68], [0x04, 0x22, 0x4D, 0x18],
            [0x28, 0xB5, 0x2F, 0xFD],
        ]
        return signatures.contains { content.starts(with: $0) }
    }

    /// Returns the content, decompressed by apt's tool; nil on systems without apt.
    private func unpackWithApt() -> Data? {
        let tool = "/usr/lib/apt/apt-helper"
        guard FileManager.default.isExecutableFile(atPath: tool) else { return nil }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: tool)
        process.arguments = ["cat-file", path]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let content = try? output.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? content : nil
    }
}
