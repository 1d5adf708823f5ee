import ObjectGraph

/// A value of a model that could not be read.
public struct ReadFailure: Sendable, CustomStringConvertible {
    fileprivate let value: ObjectGraphError.UnreadableValue

    /// The identifier of the model.
    public var persistentModelID: PersistentIdentifier { PersistentIdentifier(value.id) }
    /// The name of the property; nil where no property of the model could be read.
    public var propertyName: String? { value.property }
    /// The store's error, or one of the errors of `ReadFailures`: `MissingValue`, `UndecodableValue`, `RowIsGone`,
    /// `ContextIsGone`.
    public var cause: any Error { value.cause }

    init(_ value: ObjectGraphError.UnreadableValue) {
        self.value = value
    }

    /// The class, the property and the cause; never a value.
    public var description: String { value.description }
}

extension ModelContext {
    /// The values that could not be read since the failures were last forgotten, oldest first; at most 100.
    ///
    /// A property cannot throw. One whose value cannot be read, because the file is damaged or the stored value is not of
    /// the property's type, reads as nil, as its declared default or as an empty value. The next fetch throws
    /// `ObjectGraphError.unreadable` with it, once; every ``save()`` throws it until ``forgetReadFailures()`` or
    /// ``rollback()``, so that nothing is saved that a program made of the emptiness. The store keeps what it has.
    public var readFailures: [ReadFailure] { graph.unreadableValues.map(ReadFailure.init) }

    /// Called with each value that could not be read, on the thread that reads the property: once for a value until the
    /// failures are forgotten. It must not use the context.
    ///
    /// It is also called, once, for the first value that a model cannot read because its context is gone; without a
    /// handler, such a value is reported to `RuntimeIssues`.
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

    /// Forgets the ``readFailures``, so that the next save writes whatever the program has made of them.
    public func forgetReadFailures() { graph.forgetReadFailures() }
}
