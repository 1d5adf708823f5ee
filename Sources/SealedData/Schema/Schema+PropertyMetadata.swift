extension Schema {
    /// What a model class tells the schema of one of its properties. ``Model()`` writes these.
    ///
    /// The fields are not public; they are visible to `Mirror` under the names of the initializer's parameters.
    public struct PropertyMetadata {
        let name: String
        let keypath: AnyKeyPath
        let defaultValue: Any?
        let metadata: (any SchemaProperty)?

        /// Makes a description of a property.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - keypath: The property, from its class. The type of its values tells how it is stored.
        ///   - defaultValue: The value in new objects, where the declaration has one.
        ///   - metadata: What `@Attribute` or `@Relationship` say beyond the type, or the rule of an `#Index` or
        ///     `#Unique`.
        public init(
            name: String,
            keypath: AnyKeyPath,
            defaultValue: Any? = nil,
            metadata: (any SchemaProperty)? = nil
        ) {
            self.name = name
            self.keypath = keypath
            self.defaultValue = defaultValue
            self.metadata = metadata
        }
    }
}
