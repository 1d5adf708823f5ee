import Foundation

// A structure with a custom `init(from:)` can refuse generated values. It is assembled from generated values of its
// stored properties instead: the result is only encoded, and the form in which `encode(to:)` writes a property does not
// depend on whether `init(from:)` accepts the value.

extension ProbeValues {
    /// Returns a structure assembled without its initializers; nil for other types, and if a property has no generated
    /// value.
    func assembledValue<Structure>(_ type: Structure.Type, depth: Int) -> Structure? {
        guard depth < Self.largestDepth, let properties = StoredProperties(of: type)?.properties, !properties.isEmpty
        else { return nil }
        let memory = UnsafeMutablePointer<Structure>.allocate(capacity: 1)
        defer { memory.deallocate() }
        var initialized: [StoredProperties.StoredProperty] = []
        for property in properties {
            guard initialize(property, in: memory, depth: depth + 1) else {
                for property in initialized { property.deinitialize(in: memory) }
                return nil
            }
            initialized.append(property)
        }
        return memory.move()
    }

    private func initialize(
        _ property: StoredProperties.StoredProperty,
        in memory: UnsafeMutableRawPointer,
        depth: Int
    ) -> Bool {
        func initialize<T>(_ type: T.Type) -> Bool {
            guard let value = part(type, depth: depth) else { return false }
            (memory + property.offset).initializeMemory(as: T.self, to: value)
            return true
        }
        return _openExistential(property.type, do: initialize)
    }

    /// Returns a value for a stored property.
    private func part<T>(_ type: T.Type, depth: Int) -> T? {
        // A weak reference has another representation than a strong reference of the same type.
        if type is AnyClass { return nil }
        if let optional = type as? any OptionalProbe.Type { return optional.probe(self, depth: depth) as? T }
        if let value = basicValue(type) { return value }
        if let type = type as? any (Decodable & Encodable).Type, let value = decoded(type, depth: depth) as? T {
            return value
        }
        return assembledValue(type, depth: depth)
    }

    private func decoded<T: Decodable>(_ type: T.Type, depth: Int) -> T? {
        try? T(from: ProbeDecoder(self, at: Array(repeating: Step(), count: depth)))
    }

    fileprivate func value<T>(of type: T.Type, depth: Int) -> T? { part(type, depth: depth) }

    /// The coding key of a property on the path.
    private struct Step: CodingKey {
        var stringValue: String { "" }
        var intValue: Int? { nil }

        init() {}
        init?(stringValue: String) { nil }
        init?(intValue: Int) { nil }
    }
}

extension StoredProperties.StoredProperty {
    fileprivate func deinitialize(in memory: UnsafeMutableRawPointer) {
        func deinitialize<T>(_ type: T.Type) {
            (memory + offset).assumingMemoryBound(to: T.self).deinitialize(count: 1)
        }
        _openExistential(type, do: deinitialize)
    }
}

private protocol OptionalProbe {
    static func probe(_ values: ProbeValues, depth: Int) -> Any
}

extension Optional: OptionalProbe {
    /// The value is nil only if the wrapped type has no value.
    fileprivate static func probe(_ values: ProbeValues, depth: Int) -> Any {
        values.value(of: Wrapped.self, depth: depth) as Wrapped? as Any
    }
}
