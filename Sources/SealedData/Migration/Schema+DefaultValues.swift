import Foundation
import ObjectGraph
public import SealedStore

extension Schema {
    /// The declared default values in their stored form, by the names of the entity that declares the attribute and of
    /// the attribute. A migration writes them into rows without a value, and an import into objects without a value.
    ///
    /// A default value is evaluated once for each migration or import: all rows get the same value.
    public var storedDefaultValues: SealedStore.DefaultValues {
        { [self] entityName, attributeName in
            let entity = entities.first { $0.name == entityName }
            let attribute = entity?.storedProperties.lazy.compactMap { $0 as? Schema.Attribute }
                .first { $0.name == attributeName }
            guard let attribute, let value = attribute.defaultValue else { return nil }
            if let transformer = attribute.transformer { return transformer.data(of: value).map(Value.blob) }
            return Self.stored(value, as: attribute.storedType ?? .composite)
        }
    }

    /// Returns a value in its stored form; nil if it cannot be stored.
    private static func stored(_ value: Any, as type: AttributeType) -> Value? {
        if type == .composite {
            let encoder = JSONEncoder.forCompositeValues()
            guard let encodable = value as? any Encodable, let text = try? encoder.encode(encodable) else { return nil }
            return text == Data("null".utf8) ? nil : .text(String(decoding: text, as: UTF8.self))
        }
        if let value = value as? any StorableValue { return try? value.storedValue }
        if let value = value as? any RawRepresentable { return stored(raw(value), as: type) }
        return nil
    }

    private static func raw<R: RawRepresentable>(_ value: R) -> Any { value.rawValue }
}
