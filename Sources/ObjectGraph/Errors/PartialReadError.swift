/// An error of a store whose cause can lie in single rows: a request for the remaining rows may succeed.
package protocol PartialReadError: Error {
    /// Whether the cause can lie in single rows of the request.
    var mayConcernSingleRows: Bool { get }
}
