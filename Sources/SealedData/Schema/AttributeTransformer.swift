#if canImport(Darwin)
    public import Foundation
#else
    import Foundation
#endif
import Guarded

/// The value transformer of an attribute, by its class or by its name. ``Model()`` passes it to the accessors.
public struct _AttributeTransformer {
    private enum Reference {
        case type(ValueTransformer.Type)
        case name(String)
    }

    private let reference: Reference

    /// Makes a reference to a class of transformers. All attributes share one instance of the class.
    ///
    /// - Parameter type: The class.
    public init(_ type: ValueTransformer.Type) {
        reference = .type(type)
    }

    /// Makes a reference to a registered transformer. It need not be registered before it is used.
    ///
    /// - Parameter name: The name under which the transformer is registered.
    public init(_ name: String) {
        reference = .name(name)
    }

    // MARK: Transforming

    /// Returns the data to store for a value; nil if there is no such transformer, or it does not transform the value
    /// into data, or it cannot transform the data back.
    func data(of value: Any) -> Data? {
        guard let transformer else { return nil }
        guard !transformer.isReversed else {
            return transformer.object.reverseTransformedValue(value) as? Data
        }
        guard type(of: transformer.object).allowsReverseTransformation() else { return nil }
        return transformer.object.transformedValue(value) as? Data
    }

    /// Returns the value of stored data; nil if there is no such transformer, or it does not transform the data into a
    /// value.
    func value(of data: Data) -> Any? {
        guard let transformer else { return nil }
        guard !transformer.isReversed else { return transformer.object.transformedValue(data) }
        guard type(of: transformer.object).allowsReverseTransformation() else { return nil }
        return transformer.object.reverseTransformedValue(data)
    }

    // MARK: Finding the transformer

    /// `@unchecked Sendable`: the properties are constants. Several threads use one transformer at the same time, which
    /// the documentation of ``Schema/Attribute/Option/transformable(by:)-(ValueTransformer.Type)`` asks of its class.
    private struct Transformer: @unchecked Sendable {
        let object: ValueTransformer
        /// Whether data is the original value.
        let isReversed: Bool
    }

    private static let instances = Guarded<[ObjectIdentifier: Transformer]>([:])
    private static let types = Guarded<[String: ValueTransformer.Type]>([:])

    /// Makes the class known under its qualified name, which options contain.
    ///
    /// - Returns: The name.
    static func register(_ type: ValueTransformer.Type) -> String {
        let name = String(reflecting: type)
        types.withLock { $0[name] = type }
        return name
    }

    private var transformer: Transformer? {
        switch reference {
        case .type(let type): return Self.transformer(of: type)
        case .name(let name):
            if let type = Self.types.withLock({ $0[name] }) { return Self.transformer(of: type) }
            return ValueTransformer(forName: NSValueTransformerName(name)).map { Self.directed($0, name) }
        }
    }

    private static func transformer(of type: ValueTransformer.Type) -> Transformer {
        let key = ObjectIdentifier(type)
        if let known = instances.withLock({ $0[key] }) { return known }
        // Outside the lock: code of the program makes the transformer.
        let new = directed(type.init())
        return instances.withLock { instances in
            let shared = instances[key] ?? new
            instances[key] = shared
            return shared
        }
    }

    /// Returns a transformer with its direction. As in Core Data, Foundation's transformers that make objects from data
    /// are used in reverse.
    private static func directed(_ transformer: ValueTransformer, _ name: String = "") -> Transformer {
        #if canImport(Darwin)
            let isReversed =
                transformer is NSSecureUnarchiveFromDataTransformer
                || ["NSKeyedUnarchiveFromData", "NSUnarchiveFromData"].contains(name)
            return Transformer(object: transformer, isReversed: isReversed)
        #else
            return Transformer(object: transformer, isReversed: false)
        #endif
    }
}
