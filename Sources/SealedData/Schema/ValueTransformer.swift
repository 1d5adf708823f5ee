#if !canImport(Darwin)
    import Guarded

    /// A reversible transformation of values: a substitute on platforms without Foundation's `ValueTransformer`.
    ///
    /// The transformer of an attribute, see ``Schema/Attribute/Option/transformable(by:)-(ValueTransformer.Type)``,
    /// transforms values of the property's type into `Data`, and data back into values. Several threads use one
    /// transformer at the same time.
    open class ValueTransformer: _RegisteredTransformer {
        private static let registered = Guarded<[NSValueTransformerName: Registered]>([:])

        /// `@unchecked Sendable`: the reference is a constant. Several threads use one transformer at the same time, which
        /// the documentation asks of its class.
        private struct Registered: @unchecked Sendable {
            let transformer: ValueTransformer
        }

        /// Makes a transformer.
        public required init() {}

        /// The class of the transformed values.
        open class func transformedValueClass() -> AnyClass { ValueTransformer.self }

        /// Whether ``reverseTransformedValue(_:)`` is supported; true unless overridden.
        open class func allowsReverseTransformation() -> Bool { true }

        /// Returns the transformed value; nil unless overridden.
        ///
        /// - Parameter value: The value.
        open func transformedValue(_ value: Any?) -> Any? { nil }

        /// Returns the original value. Unless overridden, it transforms the value again.
        ///
        /// - Parameter value: The transformed value.
        open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }

        /// Registers a transformer under a name.
        ///
        /// - Parameters:
        ///   - transformer: The transformer, which replaces a transformer with the same name; nil removes that
        ///     transformer.
        ///   - name: The name.
        public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
            // The replaced transformer is released outside the lock: its `deinit` is code of the program.
            _ = registered.withLock { transformers in
                let replaced = transformers[name]
                transformers[name] = transformer.map(Registered.init)
                return replaced
            }
        }

        /// Returns the names of the registered transformers, in no order.
        public class func valueTransformerNames() -> [NSValueTransformerName] {
            registered.withLock { Array($0.keys) }
        }

        fileprivate static func transformer(named name: NSValueTransformerName) -> ValueTransformer? {
            registered.withLock { $0[name] }?.transformer
        }
    }

    /// The name of a registered value transformer.
    public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
        /// The text of the name.
        public var rawValue: String

        /// Makes a name.
        ///
        /// - Parameter rawValue: The text of the name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a name.
        ///
        /// - Parameter rawValue: The text of the name.
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    /// The superior of ``ValueTransformer``. An initializer of a class cannot return another object; an initializer in
    /// a protocol extension can.
    public protocol _RegisteredTransformer {}

    extension _RegisteredTransformer {
        /// Returns the transformer that is registered under a name; nil if the name has no transformer of the class.
        ///
        /// - Parameter name: The name.
        public init?(forName name: NSValueTransformerName) {
            guard let known = ValueTransformer.transformer(named: name) as? Self else { return nil }
            self = known
        }
    }
#endif
