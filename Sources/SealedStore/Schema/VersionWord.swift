import ObjectGraph

/// The content of the column `_version`: the version of the row in the lower 32 bits, and above them one bit for each
/// column of reals, which is set if the value is negative zero.
///
/// SQLite stores a real without a fraction as an integer, and so loses the sign of negative zero, which compares equal
/// to zero. In rows without negative zeros the word equals the version.
enum VersionWord {
    /// The part of the word that is the version.
    static let versionMask: Int64 = 0xFFFF_FFFF
    /// The largest number of columns of a table with a bit.
    static let signBits = 31

    /// The SQL condition that the version equals a parameter.
    static func condition(_ parameter: String) -> String { #"("_version" & \#(versionMask)) = \#(parameter)"# }

    /// The SQL assignment that increments the version, and keeps the bits of columns that are not written.
    static func increment(writing columns: [Column]) -> String {
        let written = columns.compactMap(\.signBit).reduce(0 as Int64) { $0 | mask(of: $1) }
        let kept = ~versionMask & ~written & .max
        return #""_version" = (("_version" + 1) & \#(versionMask)) | ("_version" & \#(kept))"#
    }

    /// The mask with the bit of a column.
    static func mask(of signBit: Int) -> Int64 { 1 << Int64(32 + signBit) }

    /// Whether the value of a column is negative. The value must be zero.
    @inline(__always)
    static func isNegative(_ word: Int64, _ signBit: Int) -> Bool { word & mask(of: signBit) != 0 }
}

/// The slots of an entity whose values may be negative zero.
struct SignedSlots: Sendable {
    private let slots: [(slot: Int, mask: Int64)]
    private let unmarked: [(slot: Int, name: String)]

    init(_ entity: Entity, _ table: EntityTable) {
        let reals = entity.properties.compactMap { property in
            table.column(of: property).flatMap { $0.storage == .real ? (property, $0.signBit) : nil }
        }
        slots = reals.compactMap { property, bit in bit.map { (property.slot, VersionWord.mask(of: $0)) } }
        unmarked = reals.compactMap { property, bit in bit == nil ? (property.slot, property.name) : nil }
    }

    /// The value of `_version` for a row.
    ///
    /// - Throws: ``SealedStoreError/notRepresentable(property:)`` for a negative zero in a column without a bit.
    @inline(__always)
    func word(of row: Row) throws(SealedStoreError) -> Int64 {
        var word = Int64(row.version)
        // By position: iterators would retain the arrays for each row.
        for position in slots.indices where row.isNegativeZero(at: slots[position].slot) {
            word |= slots[position].mask
        }
        for position in unmarked.indices where row.isNegativeZero(at: unmarked[position].slot) {
            throw .notRepresentable(property: unmarked[position].name)
        }
        return word
    }
}

extension Row {
    @inline(__always)
    fileprivate func isNegativeZero(at slot: Int) -> Bool {
        real(at: slot).bitPattern == (-0.0).bitPattern && tag(at: slot) == .real
    }
}
