#if !canImport(Darwin)
    /// Turns values into others and back: a stand-in for Foundation's class of the name, for platforms that lack it.
    ///
    /// It exists so that ``Schema/Attribute/Option/transformable(by:)-(ValueTransformer.Type)`` can be written
    /// everywhere. The option has no effect here: a property's type decides how it is stored.
    open class ValueTransformer {
        /// Makes a transformer.
        public init() {}

        /// The class of the transformed values.
        open class func transformedValueClass() -> AnyClass { ValueTransformer.self }

        /// Whether ``reverseTransformedValue(_:)`` works; true unless overridden.
        open class func allowsReverseTransformation() -> Bool { true }

        /// The transformed value; nil unless overridden.
        open func transformedValue(_ value: Any?) -> Any? { nil }

        /// The original value; the transformed one again unless overridden.
        open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
    }
#endif
