public import Foundation

/// A store to open, with its options.
///
/// Options may contain secrets: neither `description` nor `dump` shows their values.
public struct PersistentStoreDescription: Sendable {
    /// The type under which the store's class is registered.
    public var type: String {
        didSet { securedOptions = Self.secured(securedOptions, for: type) }
    }
    /// The file; nil for a store in memory.
    public var url: URL?
    /// Whether the store is read-only.
    public var isReadOnly: Bool
    /// Whether a store of another model is migrated when it is opened; otherwise opening it throws.
    public var shouldMigrateStoreAutomatically = true
    /// The options of the store's type, such as a key. The class of the type converts a secret to its secured form when
    /// it is set, see ``IncrementalStore/secured(_:)``.
    public var options: [String: any Sendable] {
        get { securedOptions }
        set { securedOptions = Self.secured(newValue, for: type) }
    }
    /// The names of the store's entities; nil for all.
    public var entityNames: Set<String>?
    /// The store that ``PersistentStoreCoordinator/prepare(_:)`` has opened; nil if it is not prepared.
    package var prepared: (any PreparedStore)?

    private var securedOptions: [String: any Sendable]

    /// Makes a description.
    public init(
        type: String,
        url: URL?,
        isReadOnly: Bool = false,
        options: [String: any Sendable] = [:],
        entityNames: Set<String>? = nil
    ) {
        self.type = type
        self.url = url
        self.isReadOnly = isReadOnly
        self.entityNames = entityNames
        securedOptions = Self.secured(options, for: type)
    }

    private static func secured(_ options: [String: any Sendable], for type: String) -> [String: any Sendable] {
        guard !options.isEmpty, let storeClass = PersistentStoreCoordinator.storeClass(ofType: type) else {
            return options
        }
        return storeClass.secured(options)
    }
}

/// A store that is open and examined, for the ``PersistentStoreDescription`` of which its class loads it. The store is
/// closed when it is released before that.
package protocol PreparedStore: AnyObject, Sendable {}

extension PersistentStoreDescription: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type, the file, and the names of the options; never an option's value.
    public var description: String {
        let place = url.map { $0.path(percentEncoded: false) } ?? "in memory"
        let options = optionTypes.map { ", \($0.name): \($0.type)" }.joined()
        return "PersistentStoreDescription(\(type), \(place)\(isReadOnly ? ", read-only" : "")\(options))"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The properties, with the types of the options instead of their values.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "type": type, "url": url as Any, "isReadOnly": isReadOnly, "entityNames": entityNames as Any,
                "options": Dictionary(uniqueKeysWithValues: optionTypes.map { ($0.name, $0.type) }),
            ],
            displayStyle: .struct
        )
    }

    private var optionTypes: [(name: String, type: String)] {
        options.map { ($0.key, "\(Swift.type(of: $0.value))") }.sorted { $0.0 < $1.0 }
    }
}
