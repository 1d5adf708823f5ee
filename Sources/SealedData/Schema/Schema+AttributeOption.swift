#if canImport(Darwin)
    public import class Foundation.ValueTransformer
#endif

extension Schema.Attribute {
    /// A rule for the values of an attribute.
    public struct Option: Codable, Hashable, Sendable, CustomDebugStringConvertible {
        private enum Kind: Codable, Hashable {
            case unique
            case transformable(String)
            case externalStorage
            case allowsCloudEncryption
            case preserveValueOnDeletion
            case ephemeral
            case spotlight
            case codable
        }

        private let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        /// Each value is unique. Saving a second object with the same value updates the first.
        public static var unique: Option { Option(.unique) }

        /// Values of a type that cannot be stored otherwise are stored as the data that a value transformer makes of
        /// them. All attributes share one instance of the transformer.
        ///
        /// ``Model()`` recognizes the option in `@Attribute`. The transformer transforms values of the property's type,
        /// never nil, into `Data`, and data back into equal values. A save throws if the transformer does not transform
        /// a value. Data that it does not transform back is unreadable, like JSON text that does not decode, and stays
        /// in the store until the property is set. Several threads use one transformer at the same time.
        ///
        /// The option has no effect on a type that can be stored without a transformer: a type that is stored directly
        /// or by its raw value, or is `Codable`.
        ///
        /// - Parameter transformer: The class of the transformer.
        public static func transformable(by transformer: ValueTransformer.Type) -> Option {
            Option(.transformable(_AttributeTransformer.register(transformer)))
        }

        /// Values of a type that cannot be stored otherwise are stored as the data that a value transformer makes of
        /// them.
        ///
        /// The transformer must be registered with `ValueTransformer.setValueTransformer(_:forName:)` before a value is
        /// set or read. ``transformable(by:)-(ValueTransformer.Type)`` describes the option.
        ///
        /// - Parameter transformer: The name of the transformer.
        public static func transformable(by transformer: String) -> Option { Option(.transformable(transformer)) }

        /// Large values are stored outside the row, so that objects are fetched without them. Only for data, text and
        /// `Codable` values.
        public static var externalStorage: Option { Option(.externalStorage) }

        /// Has no effect: CloudKit is not supported, and every value of a file is encrypted.
        public static var allowsCloudEncryption: Option { Option(.allowsCloudEncryption) }

        /// The history keeps the last value of a deleted object.
        public static var preserveValueOnDeletion: Option { Option(.preserveValueOnDeletion) }

        /// The value exists in memory only. Observers receive its changes. The changes do not mark the object as
        /// changed, and undo does not revert them.
        ///
        /// ``Model()`` recognizes the option in `@Attribute`. The property needs a default value, which fetched objects
        /// have, too.
        public static var ephemeral: Option { Option(.ephemeral) }

        /// Has no effect: Spotlight is not supported.
        public static var spotlight: Option { Option(.spotlight) }

        /// The value is opaque to the store. It has no effect: every `Codable` type that is not storable directly is
        /// stored as JSON text.
        public static var codable: Option { Option(.codable) }

        /// The value transformer of the option; nil for other options.
        var transformer: _AttributeTransformer? {
            if case .transformable(let name) = kind { _AttributeTransformer(name) } else { nil }
        }

        /// The option in Swift syntax.
        public var debugDescription: String {
            switch kind {
            case .unique: ".unique"
            case .transformable(let name): ".transformable(by: \(name))"
            case .externalStorage: ".externalStorage"
            case .allowsCloudEncryption: ".allowsCloudEncryption"
            case .preserveValueOnDeletion: ".preserveValueOnDeletion"
            case .ephemeral: ".ephemeral"
            case .spotlight: ".spotlight"
            case .codable: ".codable"
            }
        }
    }
}
