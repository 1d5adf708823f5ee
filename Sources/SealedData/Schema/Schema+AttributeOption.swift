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

        /// At most one object has a given value. Saving a second one updates the first.
        public static var unique: Option { Option(.unique) }

        /// Names a value transformer. It has no effect here: the property's type decides how it is stored, and a type
        /// that is neither storable nor `Codable` is refused.
        public static func transformable(by transformer: ValueTransformer.Type) -> Option {
            Option(.transformable(String(reflecting: transformer)))
        }

        /// Names a value transformer. It has no effect here: the property's type decides how it is stored, and a type
        /// that is neither storable nor `Codable` is refused.
        public static func transformable(by transformer: String) -> Option { Option(.transformable(transformer)) }

        /// Large values are kept outside the row, so that objects are fetched without them. Only for data, text and
        /// `Codable` values.
        public static var externalStorage: Option { Option(.externalStorage) }

        /// Has no effect here: there is no cloud, and every value of a file is encrypted.
        public static var allowsCloudEncryption: Option { Option(.allowsCloudEncryption) }

        /// The history keeps the last value of a deleted object.
        public static var preserveValueOnDeletion: Option { Option(.preserveValueOnDeletion) }

        /// The object keeps the value in memory, and no store has it. Observers see its changes; they do not make the object
        /// one that needs to be saved, and undo does not take them back.
        ///
        /// ``Model()`` reads the option where it is written in `@Attribute`. The property needs a default value, which is the
        /// value of objects that come from the store.
        public static var ephemeral: Option { Option(.ephemeral) }

        /// Has no effect here: there is no Spotlight.
        public static var spotlight: Option { Option(.spotlight) }

        /// The value is opaque to the store. It has no effect here: every `Codable` type that is not storable itself is
        /// kept as JSON text.
        public static var codable: Option { Option(.codable) }

        var isTransformable: Bool {
            if case .transformable = kind { true } else { false }
        }

        /// The option as it is written in code.
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
