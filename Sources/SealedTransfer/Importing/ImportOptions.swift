/// The choices of an import.
public struct ImportOptions: Hashable, Sendable {
    /// The treatment of an object whose unique values an object of the store has already.
    public enum ExistingObjects: String, Sendable, CaseIterable {
        /// The import fails, and changes nothing.
        case refuse
        /// The object of the store gets the values that the source has. Properties that the source does not have keep
        /// their values; a to-many relationship gets exactly the members that the source has.
        case update
    }

    /// The treatment of values that have no exact form in their property, and of references to objects that the source
    /// does not have.
    public enum UnfitContent: String, Sendable, CaseIterable {
        /// The import fails with the number of such values for each property, and changes nothing.
        case refuse
        /// Such values and references are left out and counted in the report. An object without a value for a required
        /// attribute is refused nevertheless.
        case omit
    }

    /// The treatment of objects that exist.
    public var existingObjects = ExistingObjects.refuse
    /// The treatment of parts of the source that do not fit.
    public var unfitContent = UnfitContent.refuse
    /// The limits of the source.
    public var limits = TransferLimits()

    /// Creates the default options.
    public init() {}
}
