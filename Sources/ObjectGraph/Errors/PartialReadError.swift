/// An error of a store that can have its cause in single rows: a request for the other rows may succeed.
package protocol PartialReadError: Error {
    /// Whether the cause can lie in single rows of the request.
    var mayConcernSingleRows: Bool { get }
}
