import ObjectGraph

/// A value of a model that could not be read.
public struct ReadFailure: Sendable, CustomStringConvertible {
    fileprivate let value: ObjectGraphError.UnreadableValue

    /// The identifier of the model.
    public var persistentModelID: PersistentIdentifier { PersistentIdentifier(value.id) }
    /// The name of the property; nil if no property of the model could be read.
    public var propertyName: String? { value.property }
    /// The store's error, or one of the errors of `ReadFailures`: `MissingValue`, `UndecodableValue`, `MissingRow`,
    /// `MissingContext`.
    public var cause: any Error { value.cause }

    init(_ value: ObjectGraphError.UnreadableValue) {
        self.value = value
    }

    /// The class, the property and the cause; never a value.
    public var description: String { value.description }
}

extension ModelContext {
    /// The values that could not be read since the failures were last discarded, oldest first; at most 100.
    ///
    /// Reading a property cannot throw. A property whose value cannot be read, because the file is damaged or the
    /// stored value does not have the property's type, reads as nil, as its declared default or as an empty value. The
    /// next fetch throws `ObjectGraphError.unreadable` with the value, once. Every ``save()`` throws it until
    /// ``forgetReadFailures()`` or ``rollback()``, so that no value that was computed from a substitute is saved. The
    /// stored values remain unchanged.
    public var readFailures: [ReadFailure] { graph.unreadableValues.map(ReadFailure.init) }

    /// The handler of values that could not be read, called on the thread that reads the property, once for each value
    /// until the failures are discarded. It must not use the context.
    ///
    /// It is also called, once, for the first value that a model cannot read because its context no longer exists.
    /// Without a handler, such a value is reported to `RuntimeIssues`.
    ///
    /// ```swift
    /// context.didFailToRead = { failure in logger.error("\(failure)") }
    /// ```
    public var didFailToRead: (@Sendable (ReadFailure) -> Void)? {
        get {
            guard let handler = graph.didFailToRead else { return nil }
            return { failure in handler(failure.value) }
        }
        set {
            guard let newValue else { return graph.didFailToRead = nil }
            graph.didFailToRead = { value in newValue(ReadFailure(value)) }
        }
    }

    /// Discards the ``readFailures``, so that the next save writes values that were computed from substitutes.
    public func forgetReadFailures() { graph.forgetReadFailures() }
}
