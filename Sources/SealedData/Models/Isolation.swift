/// Calls a function of a model class from a member that is not isolated.
///
/// The function has the isolation of its class, which the macro that generates both cannot see. It forms key paths, for
/// which Swift requires the isolation of the class although nothing isolated is accessed, or makes an object, which
/// belongs to the isolation domain of its context. The isolation is a part of the function's type only and does not
/// change how it is called.
public func _unisolated<Result>(_ function: @escaping @isolated(any) () -> Result) -> Result {
    unsafeBitCast(function, to: (() -> Result).self)()
}

/// Calls a function with a parameter like ``_unisolated(_:)``.
public func _unisolated<Argument, Result>(
    _ function: @escaping @isolated(any) (Argument) -> Result,
    _ argument: Argument
) -> Result {
    unsafeBitCast(function, to: ((Argument) -> Result).self)(argument)
}

/// An object whose initializers can return another object.
public protocol _ReplaceableObject {}

extension _ReplaceableObject {
    /// Replaces the object by `object`. A class's initializer cannot assign `self`, but can call this initializer.
    public init(_$replacedBy object: Self) {
        self = object
    }
}
