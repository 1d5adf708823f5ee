#if !canImport(Darwin)
    @_spi(Reflection) import Swift
#endif

/// The stored properties of a structure in the runtime's metadata.
struct StoredProperties {
    struct StoredProperty {
        let name: String
        let offset: Int
        let type: any Any.Type
    }

    let properties: [StoredProperty]

    /// - Returns: nil for a type that is not a structure, or has other parts than stored properties.
    init?<Structure>(of type: Structure.Type) {
        var properties: [StoredProperty] = []
        #if !canImport(Darwin)
            guard
                _forEachField(
                    of: type,
                    body: { name, offset, type, _ in
                        properties.append(StoredProperty(name: String(cString: name), offset: offset, type: type))
                        return true
                    }
                )
            else { return nil }
        #endif
        // Bits that belong to no property may not be zero.
        guard !(type is AnyClass), (properties.map(\.end).max() ?? 0) == MemoryLayout<Structure>.size else {
            return nil
        }
        self.properties = properties
    }

    /// Returns the property at an offset. A property of size 0 is not found.
    func property(at offset: Int) -> StoredProperty? {
        properties.first { $0.offset == offset && $0.end > offset }
    }
}

extension StoredProperties.StoredProperty {
    fileprivate var end: Int {
        func size<T>(_ type: T.Type) -> Int { MemoryLayout<T>.size }
        return offset + _openExistential(type, do: size)
    }

    /// Returns the property of a value; nil if the value is of another type.
    func value<Structure>(of whole: Structure) -> Any {
        func load<T>(_ type: T.Type) -> Any {
            withUnsafePointer(to: whole) { UnsafeRawPointer($0).load(fromByteOffset: offset, as: T.self) }
        }
        return _openExistential(type, do: load)
    }
}
