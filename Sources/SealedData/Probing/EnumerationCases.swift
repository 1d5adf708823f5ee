import ObjectGraph

/// The cases of an enumeration, whether it is `CaseIterable` or not.
///
/// Swift's runtime contains the number of cases, and represents cases without associated values as numbers from 0: this
/// is part of the ABI (`EnumDescriptor` in Swift's `Metadata.h`).
enum EnumerationCases {
    /// Returns all cases in the order of their declaration; nil for a type that is not an enumeration, has associated
    /// values, or has another layout.
    static func all<Enumeration>(of type: Enumeration.Type) -> [Enumeration]? {
        guard let count = count(of: type), count > 0, MemoryLayout<Enumeration>.size == (count == 1 ? 0 : 1) else {
            return nil
        }
        return (0..<count).map { number in
            withUnsafeTemporaryAllocation(
                byteCount: Swift.max(MemoryLayout<Enumeration>.size, 1),
                alignment: MemoryLayout<Enumeration>.alignment
            ) { memory in
                memory.storeBytes(of: UInt8(number), as: UInt8.self)
                return memory.load(as: Enumeration.self)
            }
        }
    }

    private enum Layout {
        /// The kind of a native enumeration's metadata.
        static let kind = 0x201
        static let descriptorOffset = MemoryLayout<Int>.size
        /// The offsets of the numbers of cases with and without associated values in the descriptor.
        static let fullCaseCountOffset = 5 * MemoryLayout<Int32>.size
        static let emptyCaseCountOffset = 6 * MemoryLayout<Int32>.size
        static let countMask: UInt32 = 0x00FF_FFFF
    }

    private static func count(of type: any Any.Type) -> Int? {
        #if _pointerBitWidth(_64)
            let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
            guard metadata.load(as: Int.self) == Layout.kind else { return nil }
            let descriptor = metadata.load(fromByteOffset: Layout.descriptorOffset, as: UnsafeRawPointer.self)
            let fullCases = descriptor.load(fromByteOffset: Layout.fullCaseCountOffset, as: UInt32.self)
            let count = Int(descriptor.load(fromByteOffset: Layout.emptyCaseCountOffset, as: UInt32.self))
            return fullCases & Layout.countMask == 0 && count <= 256 ? count : nil
        #else
            return nil
        #endif
    }
}

/// Sample values of a type with raw values: all cases of an enumeration, or some values of a structure.
struct RawValueSamples<Raw> {
    let values: [Raw]
    /// Whether these are all values.
    let areComplete: Bool
}

extension RawRepresentable {
    /// Values of the type; empty if none are found.
    static var samples: RawValueSamples<Self> {
        if let cases = EnumerationCases.all(of: Self.self) { return RawValueSamples(values: cases, areComplete: true) }
        if let cases = (Self.self as? any CaseIterable.Type).map({ allCases(of: $0) }) {
            // A structure can have values besides the generated ones.
            let isEnumeration = cases.first.map { Mirror(reflecting: $0).displayStyle == .enum } ?? false
            return RawValueSamples(values: cases.compactMap { $0 as? Self }, areComplete: isEnumeration)
        }
        var rawValues: [Any] = (-8...64).map { $0 }
        if let storable = RawValue.self as? any StorableValue.Type { rawValues += storable.probes }
        // Texts that computed properties change, so that they differ from the raw value.
        rawValues += ["", " ", " aB 7\n"]
        let values = rawValues.compactMap { rawValue in (rawValue as? RawValue).flatMap(Self.init(rawValue:)) }
        return RawValueSamples(values: values, areComplete: false)
    }
}

func allCases<Cases: CaseIterable>(of type: Cases.Type) -> [Any] { type.allCases.map { $0 } }
