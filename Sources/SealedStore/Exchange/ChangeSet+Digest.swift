import EncryptedSQLite
import Foundation
import ObjectGraph

extension ChangeSet {
    /// A SHA-256 hash of the changes, of the model and of the position, in base64.
    ///
    /// The hash does not cover the identifier, which names the content, nor the time and the authors: they change no
    /// object, and the same change set is made again with another time.
    ///
    /// - Complexity: O(size of the change set). Memory holds the bytes of one change, and 32 bytes for each change.
    func digest() throws -> String {
        var bytes = DigestedBytes()
        bytes.add(origin)
        bytes.add(sequence)
        bytes.add(modelHash)
        bytes.add(Int64(changes.count))
        for change in changes {
            var own = DigestedBytes()
            own.add(change)
            bytes.bytes += try SHA256.hash(own.bytes)
        }
        return Data(try SHA256.hash(bytes.bytes)).base64EncodedString()
    }
}

/// A sequence of values as bytes. Values of different length or kind have different bytes, in any sequence.
private struct DigestedBytes {
    var bytes: [UInt8] = []

    mutating func add(_ number: Int64) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }

    mutating func add(_ identifier: UUID) { withUnsafeBytes(of: identifier.uuid) { bytes += $0 } }

    mutating func add(_ text: String) {
        add(Int64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func add(_ data: Data) {
        add(Int64(data.count))
        bytes += data
    }

    mutating func add(_ change: ChangeSet.Change) {
        add(change.identifier)
        add(change.entity)
        add(change.kind.rawValue)
        // Names are sorted by their bytes: the order of Swift's strings regards canonically equivalent texts as equal.
        for (name, value) in change.values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            add(name)
            add(value)
        }
    }

    private mutating func add(_ value: ChangeSet.PropertyValue) {
        switch value {
        case .attribute(.null): bytes.append(0)
        case .attribute(.integer(let integer)):
            bytes.append(1)
            add(integer)
        case .attribute(.real(let real)):
            bytes.append(2)
            add(Int64(bitPattern: real.bitPattern))
        case .attribute(.text(let text)):
            bytes.append(3)
            add(text)
        case .attribute(.blob(let data)):
            bytes.append(4)
            add(data)
        case .attribute(.uuid(let uuid)):
            // A coded change set has a blob in the place of a UUID.
            bytes.append(4)
            add(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .reference(nil): bytes.append(5)
        case .reference(let identifier?):
            bytes.append(6)
            add(identifier)
        case .members(let identifiers):
            bytes.append(7)
            add(Int64(identifiers.count))
            for identifier in identifiers { add(identifier) }
        }
    }
}
