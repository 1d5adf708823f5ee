public import Foundation

@_exported public import enum EncryptedSQLite.Durability
@_exported public import struct SealedStore.ScanWarning
@_exported public import struct SealedStore.ScanWarnings

/// Where a container keeps the objects of a schema, or of a part of it, and with which key.
///
/// A file is always encrypted. Its key is the configuration's own, or comes from `EncryptionKey.provider`.
///
/// ```swift
/// let configuration = ModelConfiguration("Trips", key: .passphrase(passphrase))
/// let container = try ModelContainer(for: Trip.self, configurations: configuration)
/// ```
public struct ModelConfiguration: DataStoreConfiguration, Identifiable, Hashable, Sendable {
    /// The encrypted store.
    public typealias Store = DefaultStore

    /// Where the objects would go in iCloud. It has no effect here: there is no cloud.
    public struct CloudKitDatabase: Hashable, Sendable {
        let containerIdentifier: String?
        private let isNone: Bool

        /// The app's own container, if it has one.
        public static let automatic = CloudKitDatabase(containerIdentifier: nil, isNone: false)
        /// None.
        public static let none = CloudKitDatabase(containerIdentifier: nil, isNone: true)

        /// The private database of a container.
        public static func `private`(_ containerIdentifier: String) -> CloudKitDatabase {
            CloudKitDatabase(containerIdentifier: containerIdentifier, isNone: false)
        }
    }

    /// The group of apps that would share the file. It has no effect here: share a file by its URL.
    public struct GroupContainer: Hashable, Sendable {
        let identifier: String?
        private let isNone: Bool

        /// The app's own group, if it has one.
        public static let automatic = GroupContainer(identifier: nil, isNone: false)
        /// None.
        public static let none = GroupContainer(identifier: nil, isNone: true)

        /// A group.
        public static func identifier(_ identifier: String) -> GroupContainer {
            GroupContainer(identifier: identifier, isNone: false)
        }
    }

    /// The file; `/dev/null` for a store in memory.
    public let url: URL
    /// The name, `default` unless another was given. The default file is named after it.
    public let name: String
    /// The group that was asked for; it has no effect here.
    public let groupContainer: GroupContainer
    /// The cloud database that was asked for; it has no effect here.
    public let cloudKitDatabase: CloudKitDatabase
    /// The part of the container's schema that is kept here; nil for all of it.
    public var schema: Schema?
    /// Whether the container may change the store.
    public let allowsSave: Bool
    /// Whether nothing is written to any file. Such a store needs no key.
    public let isStoredInMemoryOnly: Bool
    /// What a save survives: a crash of the app, which is the default, or a power failure, too. It has no effect in memory.
    public var durability: Durability
    /// What is done with fetches that read every row of a large table; nil for nothing. It is no part of what makes two
    /// configurations equal.
    public var scanWarnings: ScanWarnings?

    /// The key; it is no part of what makes two configurations equal, and is never printed.
    private(set) var key: EncryptionKey?
    /// Whether the file is named after the configuration.
    let hasDefaultURL: Bool

    /// Makes a configuration with the default name and file.
    ///
    /// - Parameters:
    ///   - isStoredInMemoryOnly: Whether to write nothing to any file.
    ///   - key: The key of the file; nil leaves it to `EncryptionKey.provider`.
    ///   - durability: What a save survives.
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

    /// Makes a configuration for some model classes and those that can be reached from them.
    ///
    /// - Parameters:
    ///   - types: The classes.
    ///   - isStoredInMemoryOnly: Whether to write nothing to any file.
    ///   - key: The key of the file; nil leaves it to `EncryptionKey.provider`.
    ///   - durability: What a save survives.
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
    /// The file is `<name>.store` in the folder that ``defaultDirectory`` names.
    ///
    /// - Parameters:
    ///   - name: The name; nil stands for `default`.
    ///   - schema: The part of the container's schema to keep here; nil for all of it.
    ///   - isStoredInMemoryOnly: Whether to write nothing to any file.
    ///   - allowsSave: Whether the container may change the store.
    ///   - groupContainer: Has no effect here.
    ///   - cloudKitDatabase: Has no effect here.
    ///   - key: The key of the file; nil leaves it to `EncryptionKey.provider`.
    ///   - durability: What a save survives.
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
        url =
            isStoredInMemoryOnly
            ? URL(filePath: "/dev/null", directoryHint: .notDirectory)
            : Self.defaultDirectory.appending(path: "\(self.name).store", directoryHint: .notDirectory)
    }

    /// Makes a configuration with a file of its own.
    ///
    /// - Parameters:
    ///   - name: The name; nil stands for `default`.
    ///   - schema: The part of the container's schema to keep here; nil for all of it.
    ///   - url: The file. A container makes its folder where it does not exist.
    ///   - allowsSave: Whether the container may change the store.
    ///   - cloudKitDatabase: Has no effect here.
    ///   - key: The key of the file; nil leaves it to `EncryptionKey.provider`.
    ///   - durability: What a save survives.
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
    }

    /// The configuration as it is kept once its store is open.
    var withoutKey: ModelConfiguration {
        var configuration = self
        configuration.key = nil
        return configuration
    }

    /// The file's URL.
    public var id: URL { url }
    /// The group that was asked for by name; it has no effect here.
    public var groupAppContainerIdentifier: String? { groupContainer.identifier }
    /// The cloud container that was asked for by name; it has no effect here.
    public var cloudKitContainerIdentifier: String? { cloudKitDatabase.containerIdentifier }

    /// Whether both have the same file, name, schema and rules. Keys are not compared.
    public static func == (left: ModelConfiguration, right: ModelConfiguration) -> Bool {
        left.url == right.url && left.name == right.name && left.schema == right.schema
            && left.allowsSave == right.allowsSave && left.isStoredInMemoryOnly == right.isStoredInMemoryOnly
            && left.durability == right.durability && left.groupContainer == right.groupContainer
            && left.cloudKitDatabase == right.cloudKitDatabase
    }

    /// Hashes file and name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(name)
    }
}

extension ModelConfiguration: CustomDebugStringConvertible {
    /// Name, file and rules; never the key.
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
