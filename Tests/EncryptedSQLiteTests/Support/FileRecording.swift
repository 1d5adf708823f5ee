import Foundation
import TestSupport

/// What a process did to the files of a folder, as `CFileRecorder` records it.
struct FileRecording {
    enum Operation {
        case create(name: String, file: UInt64)
        case write(file: UInt64, offset: Int, bytes: Data)
        case truncate(file: UInt64, byteCount: Int)
        case synchronize(file: UInt64)
        case rename(from: String, to: String)
        case remove(name: String)
        case synchronizeFolder
        case note(String)
    }

    let operations: [Operation]

    init(_ url: URL) throws {
        var rest = try Data(contentsOf: url)[...]
        func integer<I: FixedWidthInteger>(_ type: I.Type) -> I {
            defer { rest = rest.dropFirst(MemoryLayout<I>.size) }
            return rest.withUnsafeBytes { $0.loadUnaligned(as: I.self) }
        }
        var operations: [Operation] = []
        while !rest.isEmpty {
            let (kind, count) = (integer(UInt32.self), Int(integer(UInt32.self)))
            let (file, value) = (integer(UInt64.self), Int(integer(Int64.self)))
            let bytes = Data(rest.prefix(count))
            rest = rest.dropFirst(count)
            let names = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            switch kind {
            case 1: operations.append(.create(name: names[0], file: file))
            case 2: operations.append(.write(file: file, offset: value, bytes: bytes))
            case 3: operations.append(.truncate(file: file, byteCount: value))
            case 4: operations.append(.synchronize(file: file))
            case 5: operations.append(.rename(from: names[0], to: names[1]))
            case 6: operations.append(.remove(name: names[0]))
            case 7: operations.append(.synchronizeFolder)
            // A disk in these tests has no folders.
            case 9, 10: break
            default: operations.append(.note(names[0]))
            }
        }
        self.operations = operations
    }
}

/// A disk that has executed a part of a recording, with what it has confirmed and what is on its way.
struct SimulatedDisk {
    private struct File {
        var content: Data
        /// The writes and truncations since the last synchronization, in their order.
        var pending: [FileRecording.Operation] = []
    }

    private enum Entry {
        case set(name: String, file: Int)
        case move(from: String, to: String, file: Int)
        case remove(name: String)
    }

    private var files: [File] = []
    /// The files by inode, which the system can use again.
    private var numbers: [UInt64: Int] = [:]
    private var entries: [String: Int] = [:]
    private var current: [String: Int] = [:]
    private var pendingEntries: [Entry] = []

    /// A disk with the files of a folder.
    init(_ folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let path = folder.appending(path: name).path
            let inode = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
            numbers[inode ?? 0] = files.count
            entries[name] = files.count
            files.append(File(content: try Data(contentsOf: URL(filePath: path))))
        }
        current = entries
    }

    mutating func execute(_ operation: FileRecording.Operation) {
        switch operation {
        case .create(let name, let file):
            numbers[file] = files.count
            pendingEntries.append(.set(name: name, file: files.count))
            current[name] = files.count
            files.append(File(content: Data()))
        case .write(let file, _, _), .truncate(let file, _):
            if let number = numbers[file] { files[number].pending.append(operation) }
        case .synchronize(let file):
            guard let number = numbers[file] else { return }
            for operation in files[number].pending { Self.apply(operation, to: &files[number].content) }
            files[number].pending = []
        case .rename(let old, let new):
            guard let file = current[old] else { return }
            current[old] = nil
            current[new] = file
            pendingEntries.append(.move(from: old, to: new, file: file))
        case .remove(let name):
            current[name] = nil
            pendingEntries.append(.remove(name: name))
        case .synchronizeFolder:
            for entry in pendingEntries { Self.apply(entry, to: &entries) }
            pendingEntries = []
        case .note: break
        }
    }

    /// What a power failure leaves now: all that was confirmed, and all of the rest but for blocks of files, which keep
    /// their confirmed content.
    ///
    /// - Parameters:
    ///   - byteCount: The size of a block.
    ///   - chance: The chance in percent of each block to reach the disk.
    func contentAfterLoss(ofBlocksOf byteCount: Int, _ chance: Int, _ generator: inout SeededGenerator) -> [String:
        Data]
    {
        current.mapValues { number in
            let file = files[number]
            var content = file.content
            for operation in file.pending { Self.apply(operation, to: &content) }
            let confirmed = file.content + Data(count: max(0, content.count - file.content.count))
            for start in stride(from: 0, to: content.count, by: byteCount) {
                let block = start..<min(start + byteCount, content.count)
                if content[block] != confirmed[block], !generator.chance(chance) {
                    content.replaceSubrange(block, with: confirmed[block])
                }
            }
            return content
        }
    }

    /// What a power failure leaves now: all that was confirmed, and any part of the rest, in which writes can be torn at
    /// the border of a sector.
    ///
    /// - Parameter chance: The chance in percent of each operation that was not confirmed.
    func contentAfterFailure(_ chance: Int, _ generator: inout SeededGenerator) -> [String: Data] {
        var entries = entries
        for entry in pendingEntries where generator.chance(chance) { Self.apply(entry, to: &entries) }
        return entries.mapValues { number in
            var content = files[number].content
            for operation in files[number].pending where generator.chance(chance) {
                guard case .write(let file, let offset, let bytes) = operation, chance < 100, generator.chance(10)
                else {
                    Self.apply(operation, to: &content)
                    continue
                }
                let torn = bytes.prefix(Int.random(in: 0...bytes.count / 512, using: &generator) * 512)
                Self.apply(.write(file: file, offset: offset, bytes: torn), to: &content)
            }
            return content
        }
    }

    private static func apply(_ operation: FileRecording.Operation, to content: inout Data) {
        switch operation {
        case .write(_, let offset, let bytes):
            if content.count < offset + bytes.count { content.count = offset + bytes.count }
            content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        case .truncate(_, let byteCount): content.count = byteCount
        default: break
        }
    }

    private static func apply(_ entry: Entry, to entries: inout [String: Int]) {
        switch entry {
        case .set(let name, let file): entries[name] = file
        case .move(let old, let new, let file):
            if entries[old] == file { entries[old] = nil }
            entries[new] = file
        case .remove(let name): entries[name] = nil
        }
    }
}
