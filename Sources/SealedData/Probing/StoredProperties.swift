#if !canImport(Darwin)
    @_spi(Reflection) import Swift
#endif

/// The stored properties of a structure in the runtime's metadata; none on Apple's platforms, whose standard library
/// does not expose them.
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
}

extension StoredProperties.StoredProperty {
    fileprivate var end: Int {
        func size<T>(_ type: T.Type) -> Int { MemoryLayout<T>.size }
        return offset + _openExistential(type, do: size)
    }
}
