extension Schema {
    /// The name that the entity of a model class had in the previous schema. ``Model(originalName:)`` generates it.
    public struct _OriginalName<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible, Sendable {
        /// The name in the previous schema.
        public var originalName: String

        /// Makes the description of a renamed class.
        public init(_ originalName: String) {
            self.originalName = originalName
        }

        /// False.
        public var isUnique: Bool { false }

        /// The model and the name.
        public var debugDescription: String { "OriginalName<\(T.self)>(\(originalName))" }
    }
}

/// A ``Schema/_OriginalName`` of any model.
protocol RenamingRule {
    var originalName: String { get }
}

extension Schema._OriginalName: RenamingRule {}
