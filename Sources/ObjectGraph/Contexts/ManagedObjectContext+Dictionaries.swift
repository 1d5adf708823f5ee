extension ManagedObjectContext {
    /// The rows of values that a request asks for, computed in the store.
    ///
    /// They are of what was saved: unsaved changes have no part in them, as with Core Data's dictionary results. Save
    /// first where they should.
    ///
    /// - Throws: ``QueryError`` where the request has no single meaning, or an integer becomes too large; what the store
    ///   throws.
    /// - Complexity: one statement; no object is made.
    public func fetchDictionaries(_ request: DictionaryFetchRequest) throws -> DictionaryResults {
        let result = try store(for: request.entity).execute(.fetchDictionaries(request.validated()), with: self)
        guard case .dictionaries(let results) = result else {
            preconditionFailure("the store answered a fetch of dictionaries with something else")
        }
        return results
    }
}
