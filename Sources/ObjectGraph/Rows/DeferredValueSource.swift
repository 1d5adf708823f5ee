public import Foundation

/// Reads large values that a store omitted from its rows, each on first access.
public protocol DeferredValueSource: AnyObject, Sendable {
    /// Returns the current blob in a slot of the row of an object; nil if the store no longer has the object.
    ///
    /// - Throws: errors of the store.
    func blob(at slot: Int, key: Int64, entityIndex: Int) throws -> Data?
}
