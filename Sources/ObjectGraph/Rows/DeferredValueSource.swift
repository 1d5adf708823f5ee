public import Foundation

/// Where large values are read from that a store left out of its rows, each when a program asks for it.
public protocol DeferredValueSource: AnyObject, Sendable {
    /// The blob in a slot of the row of an object as it is now; nil if the store does not have the object any more.
    ///
    /// - Throws: errors of the store.
    func blob(at slot: Int, key: Int64, entityIndex: Int) throws -> Data?
}
