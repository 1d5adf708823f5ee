import Foundation
import ObjectGraph

// `Database.Options` says how to add an option.

extension PersistentStoreDescription {
    /// The value of an option; nil if the description has none.
    ///
    /// - Throws: ``SealedStoreError/malformedOption(_:)`` for a value of another type.
    func option<Value>(_ name: String, as type: Value.Type) throws(SealedStoreError) -> Value? {
        guard let option = options[name] else { return nil }
        guard let value = option as? Value else { throw .malformedOption(name) }
        return value
    }

    /// Checks the types of the options that are read when the file is open.
    func checkOptions() throws(SealedStoreError) {
        _ = try option(SealedStore.followsOtherProcessesOption, as: Bool.self)
        _ = try option(SealedStore.historyOption, as: HistoryOptions.self)
        _ = try option(SealedStore.migrationProgressOption, as: Progress.self)
        _ = try option(SealedStore.scanWarningsOption, as: ScanWarnings.self)
    }

    /// The version of the program's model; nil if the program does not number its models.
    ///
    /// - Throws: ``SealedStoreError/malformedOption(_:)``; ``SealedStoreError/invalidOption(_:reason:)`` for a text that is
    ///   not a version.
    func modelVersion() throws(SealedStoreError) -> ModelVersion? {
        guard let text = try option(SealedStore.modelVersionOption, as: String.self) else { return nil }
        guard let version = ModelVersion(text) else {
            throw .invalidOption(SealedStore.modelVersionOption, reason: "a version has the form 1.2.3")
        }
        return version
    }
}
