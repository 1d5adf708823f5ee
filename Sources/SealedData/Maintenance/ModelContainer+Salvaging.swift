import ObjectGraph
public import SealedStore

extension ModelContainer {
    /// Recovers everything readable from a damaged file into a new store, and reports the losses, entity by entity.
    ///
    /// Each page is verified alone: all models whose pages are intact are recovered, with their identifiers. A lost
    /// value of an optional property is nil in the new store; a model without a required value is lost; references to
    /// lost models are cut. The damaged file stays as it is. The new store appears at its URL when it is complete.
    ///
    /// - Parameters:
    ///   - url: The URL of the damaged file.
    ///   - key: The key of the damaged file.
    ///   - newURL: The URL of the new store, where no file exists.
    ///   - newKey: The key of the new store; nil for `key`.
    ///   - schema: The schema of a file whose own description of it cannot be read.
    ///   - progress: Counts pages. It can be cancelled.
    /// - Returns: The report, with the check of the new store.
    /// - Throws: `SalvageError`; `DatabaseError`, such as `wrongKey`; `CancellationError`.
    /// - Complexity: O(*n* log *n*) in the size of the file, in bounded memory but for one byte for each page.
    public static func salvage(
        _ url: URL,
        key: EncryptionKey,
        to newURL: URL,
        newKey: EncryptionKey? = nil,
        schema: Schema? = nil,
        progress: Progress? = nil
    ) throws -> SalvageReport {
        try SealedStore.salvage(
            url,
            key: key,
            to: newURL,
            newKey: newKey,
            model: schema?.makeModel().model,
            progress: progress
        )
    }
}
