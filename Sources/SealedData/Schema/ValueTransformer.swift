#if !canImport(Darwin)
    /// A reversible transformation of values: a substitute on platforms without Foundation's `ValueTransformer`.
    ///
    /// It exists so that ``Schema/Attribute/Option/transformable(by:)-(ValueTransformer.Type)`` compiles on every
    /// platform. The option has no effect: a property's type determines how it is stored.
    open class ValueTransformer {
        /// Makes a transformer.
        public init() {}

        /// The class of the transformed values.
        open class func transformedValueClass() -> AnyClass { ValueTransformer.self }

        /// Whether ``reverseTransformedValue(_:)`` is supported; true unless overridden.
        open class func allowsReverseTransformation() -> Bool { true }

        /// Returns the transformed value; nil unless overridden.
        open func transformedValue(_ value: Any?) -> Any? { nil }

        /// Returns the original value. Unless overridden, it transforms the value again.
        open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
    }
#endif
