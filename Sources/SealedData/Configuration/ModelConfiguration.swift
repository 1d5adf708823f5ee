public import Foundation

@_exported public import enum EncryptedSQLite.Durability
@_exported public import struct SealedStore.HistoryOptions
@_exported public import struct SealedStore.ScanWarning
@_exported public import struct SealedStore.ScanWarnings

/// The file, the key and the options of a store that holds the objects of a schema, or of a part of it.
///
/// A file is always encrypted. The configuration has its key, or `EncryptionKey.provider` supplies it.
///
/// ```swift
/// let configuration = ModelConfiguration("Trips", key: .passphrase(passphrase))
/// let container = try ModelContainer(for: Trip.self, configurations: configuration)
/// ```
public struct ModelConfiguration: DataStoreConfiguration, Identifiable, Hashable, Sendable {
    /// The iCloud database for the objects. It has no effect, because CloudKit is not supported.
    public struct CloudKitDatabase: Hashable, Sendable {
        let containerIdentifier: String?
        private let isNone: Bool

        /// The app's own container, if it has one.
        public static let automatic = CloudKitDatabase(containerIdentifier: nil, isNone: false)
        /// No database.
        public static let none = CloudKitDatabase(containerIdentifier: nil, isNone: true)

        /// The private database of a container.
        public static func `private`(_ containerIdentifier: String) -> CloudKitDatabase {
            CloudKitDatabase(containerIdentifier: containerIdentifier, isNone: false)
        }
    }

    /// The app group that shares the file.
    ///
    /// On Apple's platforms a group with an identifier determines the folder of a file that is named after its
    /// configuration. Other systems have no app groups, and the value has no effect: programs share a file by its URL.
    public struct GroupContainer: Hashable, Sendable {
        let identifier: String?
        private let isNone: Bool

        /// No group: the app's entitlements are not read. Name the group by its identifier.
        public static let automatic = GroupContainer(identifier: nil, isNone: false)
        /// No group.
        public static let none = GroupContainer(identifier: nil, isNone: true)

        /// The group with an identifier.
        ///
        /// - Parameter identifier: The identifier, which the app's entitlements contain.
        public static func identifier(_ identifier: String) -> GroupContainer {
            GroupContainer(identifier: identifier, isNone: false)
        }
    }

    /// The file; `/dev/null` for a store in memory.
    public let url: URL
    /// The name, `default` by default. The default file is named after it.
    public let name: String
    /// The given app group.
    public let groupContainer: GroupContainer
    /// The given cloud database. It has no effect.
    public let cloudKitDatabase: CloudKitDatabase
    /// The part of the container's schema that the store holds; nil for all of it.
    public var schema: Schema?
    /// Whether the container may change the store.
    public let allowsSave: Bool
    /// Whether the store exists in memory only and writes no file. Such a store needs no key.
    public let isStoredInMemoryOnly: Bool
    /// The failures that a save survives: a crash of the app, which is the default, or also a power failure. It has no
    /// effect on a store in memory.
    public var durability: Durability
    /// The handling of fetches that read every row of a large table; nil for no handling. Equality of configurations
    /// ignores it.
    public var scanWarnings: ScanWarnings?
    /// Whether opening migrates a store whose model differs from the schema. Otherwise it throws the differences.
    public var allowsMigration = true
    /// The rules for objects with the same values in properties that the schema makes unique, if opening migrates the
    /// store. The rules of a migration plan precede them. Equality of configurations ignores them.
    public var duplicateRules: [DuplicateRule] = []
    /// The progress of a migration: the store reports the finished fraction, and the app can cancel it; nil for no
    /// progress. Its user info holds the current step, under ``migrationStepKey``. A cancelled migration throws
    /// `CancellationError` and leaves the store as it was before the current stage. Equality of configurations ignores
    /// it.
    public var migrationProgress: Progress?

    /// Whether all contexts of the container receive the saves of other processes, soon after these saves, as they
    /// receive the saves of each other.
    ///
    /// If it is false, they do so only while the container has live results such as ``ResultsObserver`` and ``Query``,
    /// or the app uses ``ModelContainer/remoteChange``. Fetches read the current state of the store in any case.
    /// Equality of configurations ignores it.
    public var followsOtherProcesses = false

    /// The recording of the store's history, see ``ModelContext/fetchHistory(_:)``; nil, the default, if this program
    /// does not ask for it. A file that has a history records the saves of all programs. Equality of configurations
    /// ignores it.
    public var history: HistoryOptions?

    /// Whether the encryption library overwrites all of its memory when it frees it, so that no key and no page of the
    /// file remains in memory after the container is locked or closed.
    ///
    /// It makes the library several times slower, for all stores of the process and until its end. Equality of
    /// configurations ignores it.
    public var protectsMemory = false

    /// The key. Equality of configurations ignores it, and no description contains it.
    private(set) var key: EncryptionKey?
    /// Whether the file is named after the configuration.
    let hasDefaultURL: Bool
    /// Whether the system does not give the program access to the folder of the given app group.
    private let lacksGroupFolder: Bool

    /// Makes a configuration with the default name and file.
    ///
    /// - Parameters:
    ///   - isStoredInMemoryOnly: Whether the store exists in memory only.
    ///   - key: The key of the file; nil means that `EncryptionKey.provider` supplies it.
    ///   - durability: The failures that a save survives.
    public init(
        isStoredInMemoryOnly: Bool = false,
        key: EncryptionKey? = nil,
        durability: Durability = .applicationCrash
    ) {
        self.init(
            nil,
            schema: nil,
            isStoredInMemoryOnly: isStoredInMemoryOnly,
            allowsSave: true,
            key: key,
            durability: durability
        )
    }

    /// Makes a configuration for model classes and all classes that are reachable from them.
    ///
    /// - Parameters:
    ///   - types: The classes.
    ///   - isStoredInMemoryOnly: Whether the store exists in memory only.
    ///   - key: The key of the file; nil means that `EncryptionKey.provider` supplies it.
    ///   - durability: The failures that a save survives.
    public init(
        for types: any PersistentModel.Type...,
        isStoredInMemoryOnly: Bool = false,
        key: EncryptionKey? = nil,
        durability: Durability = .applicationCrash
    ) {
        self.init(
            nil,
            schema: Schema(types),
            isStoredInMemoryOnly: isStoredInMemoryOnly,
            allowsSave: true,
            key: key,
            durability: durability
        )
    }

    /// Makes a configuration whose file is named after it.
    ///
    /// The file is `<name>.store` in ``defaultDirectory``. On Apple's platforms, with the identifier of an app group,
    /// it is in the folder `Library/Application Support` of the group's container. If the system does not give the
    /// program access to that container, opening the configuration throws ``SwiftDataError/loadIssueModelContainer``.
    ///
    /// - Parameters:
    ///   - name: The name; nil means `default`.
    ///   - schema: The part of the container's schema that the store holds; nil for all of it.
    ///   - isStoredInMemoryOnly: Whether the store exists in memory only.
    ///   - allowsSave: Whether the container may change the store.
    ///   - groupContainer: The app group whose container has the file. Has no effect on systems without app groups.
    ///   - cloudKitDatabase: Has no effect.
    ///   - key: The key of the file; nil means that `EncryptionKey.provider` supplies it.
    ///   - durability: The failures that a save survives.
    public init(
        _ name: String? = nil,
        schema: Schema? = nil,
        isStoredInMemoryOnly: Bool = false,
        allowsSave: Bool = true,
        groupContainer: GroupContainer = .automatic,
        cloudKitDatabase: CloudKitDatabase = .automatic,
        key: EncryptionKey? = nil,
        durability: Durability = .applicationCrash
    ) {
        self.name = name ?? "default"
        self.schema = schema
        self.isStoredInMemoryOnly = isStoredInMemoryOnly
        self.allowsSave = allowsSave
        self.groupContainer = groupContainer
        self.cloudKitDatabase = cloudKitDatabase
        self.key = key
        self.durability = durability
        hasDefaultURL = !isStoredInMemoryOnly
        if isStoredInMemoryOnly {
            url = URL(filePath: "/dev/null", directoryHint: .notDirectory)
            lacksGroupFolder = false
        } else {
            let folder = groupContainer.folder
            lacksGroupFolder = folder == nil
            url = (folder ?? Self.defaultDirectory)
                .appending(path: "\(self.name).store", directoryHint: .notDirectory)
        }
    }

    /// Makes a configuration with a given file.
    ///
    /// - Parameters:
    ///   - name: The name; nil means `default`.
    ///   - schema: The part of the container's schema that the store holds; nil for all of it.
    ///   - url: The file. A container creates its folder if it does not exist.
    ///   - allowsSave: Whether the container may change the store.
    ///   - cloudKitDatabase: Has no effect.
    ///   - key: The key of the file; nil means that `EncryptionKey.provider` supplies it.
    ///   - durability: The failures that a save survives.
    public init(
        _ name: String? = nil,
        schema: Schema? = nil,
        url: URL,
        allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic,
        key: EncryptionKey? = nil,
        durability: Durability = .applicationCrash
    ) {
        self.name = name ?? "default"
        self.schema = schema
        self.url = url
        isStoredInMemoryOnly = false
        self.allowsSave = allowsSave
        groupContainer = .none
        self.cloudKitDatabase = cloudKitDatabase
        self.key = key
        self.durability = durability
        hasDefaultURL = false
        lacksGroupFolder = false
    }

    /// Checks that the program has access to the folder of the given app group.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer``.
    func requireGroupFolder() throws {
        guard lacksGroupFolder else { return }
        throw SwiftDataError(
            .loadIssueModelContainer,
            "configuration '\(name)': the system has no container for the app group "
                + "'\(groupContainer.identifier ?? "")'. Add the group to the app's entitlements, or give the "
                + "configuration a URL."
        )
    }

    /// The configuration with a key.
    func with(_ key: EncryptionKey) -> ModelConfiguration {
        var configuration = self
        configuration.key = key
        return configuration
    }

    /// The configuration without its key, which the container keeps after the store is opened.
    var withoutKey: ModelConfiguration {
        var configuration = self
        configuration.key = nil
        return configuration
    }

    /// The file's URL.
    public var id: URL { url }
    /// The identifier of the given app group.
    public var groupAppContainerIdentifier: String? { groupContainer.identifier }
    /// The identifier of the given cloud container. It has no effect.
    public var cloudKitContainerIdentifier: String? { cloudKitDatabase.containerIdentifier }

    /// Whether both have the same file, name, schema and options. Keys are not compared.
    public static func == (left: ModelConfiguration, right: ModelConfiguration) -> Bool {
        left.url == right.url && left.name == right.name && left.schema == right.schema
            && left.allowsSave == right.allowsSave && left.isStoredInMemoryOnly == right.isStoredInMemoryOnly
            && left.durability == right.durability && left.groupContainer == right.groupContainer
            && left.cloudKitDatabase == right.cloudKitDatabase
    }

    /// Hashes the file and the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(name)
    }
}

extension ModelConfiguration.GroupContainer {
    /// The folder of files that are named after their configuration; nil if the system does not give the program access
    /// to the container of the group.
    fileprivate var folder: URL? {
        #if canImport(Darwin)
            if let identifier {
                return FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: identifier)?
                    .appending(path: "Library/Application Support", directoryHint: .isDirectory)
            }
        #endif
        return ModelConfiguration.defaultDirectory
    }
}

extension ModelConfiguration: CustomDebugStringConvertible {
    /// The name, the file and the options; never the key.
    public var debugDescription: String {
        let place = isStoredInMemoryOnly ? "in memory" : url.path(percentEncoded: false)
        let entities = schema.map { ", entities: \($0.entities.map(\.name).sorted().joined(separator: ", "))" } ?? ""
        let rules = (allowsSave ? "" : ", read-only") + (durability == .powerLoss ? ", durable" : "")
        return "ModelConfiguration(\(name), \(place)\(rules)\(entities))"
    }
}

extension ModelConfiguration: CustomReflectable {
    /// The public properties, so that `dump` and debuggers do not print the key.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "url": url, "schema": schema as Any, "allowsSave": allowsSave,
                "isStoredInMemoryOnly": isStoredInMemoryOnly, "durability": durability,
            ],
            displayStyle: .struct
        )
    }
}
