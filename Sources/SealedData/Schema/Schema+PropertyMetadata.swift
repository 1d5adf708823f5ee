extension Schema {
    /// A model class's description of one of its properties. ``Model()`` generates it.
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
        ///   - keypath: The key path of the property. The type of its values determines how it is stored.
        ///   - defaultValue: The value in new objects, if the declaration has one.
        ///   - metadata: The options of `@Attribute` or `@Relationship`, or the rule of an `#Index` or `#Unique`.
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
