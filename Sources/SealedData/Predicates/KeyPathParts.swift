/// The parts of a key path, one for each property, `?` and `!`.
///
/// Swift has no interface to them. They are read from the runtime's representation, whose layout is part of Swift's ABI
/// and which Foundation also reads when it checks the key paths of a predicate: after the object's header and a name, a
/// word with the size of the rest; then the parts, each a header and the data of its kind, followed by the type of its
/// value unless it is the last part. A key path of another layout has no parts.
struct KeyPathParts {
    enum Part: Hashable {
        /// A stored property at an offset.
        case stored(UInt32)
        /// A computed property, by the identifier that the runtime compares.
        case computed(UInt)
        /// A computed property with arguments: its getter, the table of functions on the arguments, and the arguments.
        /// The identifier alone is ambiguous: it is equal for requirements at the same position in two protocols.
        case withArguments(getter: UInt, functions: UInt, arguments: [UInt])
        /// `?`, `!` and the end of a chain of `?`.
        case optional
    }

    let parts: [Part]
    /// The types of the values after the parts.
    let types: [any Any.Type]

    /// - Returns: nil if the key path has another layout, or arguments that are not words.
    init?(_ keyPath: AnyKeyPath) {
        #if _pointerBitWidth(_64)
            guard let (parts, types) = withExtendedLifetime(keyPath, { Self.parts(of: keyPath) }) else { return nil }
            self.parts = parts
            self.types = types
        #else
            return nil
        #endif
    }

    /// Whether generic code created the key path, and it begins with a requirement of a protocol or a property of a
    /// superclass: its only arguments are the generic arguments of that code.
    var beginsWithGenericProperty: Bool {
        guard case .withArguments(_, let functions, _)? = parts.first else { return false }
        return functions == Self.functionsOnTypes
    }

    private static let functionsOnTypes: UInt? = {
        func identifier<Model: PersistentModel>(of model: Model.Type) -> AnyKeyPath { \Model.persistentModelID }
        guard case .withArguments(_, let functions, _)? = KeyPathParts(identifier(of: UnknownModel.self))?.parts.first
        else { return nil }
        return functions
    }()

    private enum Layout {
        static let word = 8
        /// The offset of the size: after the class, the reference count and the name.
        static let sizeOffset = 3 * word
        static let sizeMask: UInt32 = 0x00FF_FFFF
        static let payloadMask: UInt32 = 0x00FF_FFFF
        static let structOffsetMask: UInt32 = 0x007F_FFFF
        static let isSettable: UInt32 = 0x0040_0000
        static let hasArguments: UInt32 = 0x0008_0000

        static func kind(_ header: UInt32) -> UInt32 { (header & 0x7F00_0000) >> 24 }
    }

    private static func parts(of keyPath: AnyKeyPath) -> (parts: [Part], types: [any Any.Type])? {
        let object = UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
        let size = Int(object.load(fromByteOffset: Layout.sizeOffset, as: UInt32.self) & Layout.sizeMask)
        let buffer = UnsafeRawBufferPointer(start: object + Layout.sizeOffset + Layout.word, count: size)
        var parts: [Part] = []
        var types: [any Any.Type] = []
        var position = 0
        while position < size {
            guard position + MemoryLayout<UInt32>.size <= size else { return nil }
            let header = buffer.load(fromByteOffset: position, as: UInt32.self)
            let payload = header & Layout.payloadMask
            var length: Int
            switch Layout.kind(header) {
            case 1, 3:
                // A large offset follows the header; models have none.
                guard payload & Layout.structOffsetMask < Layout.structOffsetMask - 2 else { return nil }
                parts.append(.stored(payload & Layout.structOffsetMask))
                length = MemoryLayout<UInt32>.size
            case 2:
                length = (payload & Layout.isSettable == 0 ? 3 : 4) * Layout.word
                guard position + length <= size else { return nil }
                let identity = buffer.load(fromByteOffset: position + Layout.word, as: UInt.self)
                guard payload & Layout.hasArguments != 0 else {
                    parts.append(.computed(identity))
                    break
                }
                // The size of the arguments, a table of functions on them, and the arguments.
                let start = position + length + 2 * Layout.word
                guard start <= size else { return nil }
                let byteCount = buffer.load(fromByteOffset: position + length, as: UInt.self)
                guard byteCount % UInt(Layout.word) == 0, byteCount <= UInt(size - start) else { return nil }
                let functions = buffer.load(fromByteOffset: start - Layout.word, as: UInt.self)
                let words = stride(from: start, to: start + Int(byteCount), by: Layout.word)
                parts.append(
                    .withArguments(
                        getter: buffer.load(fromByteOffset: position + 2 * Layout.word, as: UInt.self),
                        functions: functions,
                        arguments: words.map { buffer.load(fromByteOffset: $0, as: UInt.self) }
                    )
                )
                length = start + Int(byteCount) - position
            case 4:
                parts.append(.optional)
                length = MemoryLayout<UInt32>.size
            default: return nil
            }
            position += length
            guard position < size else { break }
            // The type between two parts is aligned to a word.
            position = (position + Layout.word - 1) / Layout.word * Layout.word
            guard position + Layout.word <= size else { return nil }
            types.append(buffer.load(fromByteOffset: position, as: Any.Type.self))
            position += Layout.word
        }
        types.append(type(of: keyPath).valueType)
        return (parts, types)
    }
}
