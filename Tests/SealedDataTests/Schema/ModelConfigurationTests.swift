import Foundation
import SealedStore
import TestSupport
import Testing

@testable import SealedData

@Suite("A configuration")
struct ModelConfigurationTests {
    @Test func `a configuration without a name is the default`() {
        let configuration = ModelConfiguration()
        #expect(configuration.name == "default")
        #expect(configuration.url == ModelConfiguration.defaultDirectory.appending(path: "default.store"))
        #expect(configuration.allowsSave && !configuration.isStoredInMemoryOnly && configuration.schema == nil)
        #expect(configuration == ModelConfiguration("default"))
    }

    @Test func `its file is named after it`() {
        #expect(ModelConfiguration("Trips").url.lastPathComponent == "Trips.store")
        #expect(ModelConfiguration("Trips").url.deletingLastPathComponent() == ModelConfiguration.defaultDirectory)
    }

    @Test func `the default folder belongs to the program`() {
        #expect(ModelConfiguration.defaultDirectory.hasDirectoryPath)
        #if os(Linux)
            #expect(ModelConfiguration.defaultDirectory.lastPathComponent == ProcessInfo.processInfo.processName)
        #endif
    }

    @Test func `every initializer`() {
        let key = EncryptionKey.passphrase("sesame")
        let url = URL(filePath: "/data/trips.store")
        let schema = Schema([Travels.Guide.self])
        #expect(ModelConfiguration(isStoredInMemoryOnly: true).isStoredInMemoryOnly)
        #expect(ModelConfiguration(key: key).key != nil)
        #expect(ModelConfiguration(for: Travels.Guide.self, key: key).schema == schema)
        #expect(ModelConfiguration(for: Travels.Guide.self, isStoredInMemoryOnly: true).isStoredInMemoryOnly)
        #expect(ModelConfiguration("Trips", schema: schema, isStoredInMemoryOnly: true).schema == schema)
        #expect(!ModelConfiguration(schema: schema, allowsSave: false, key: key).allowsSave)
        #expect(ModelConfiguration(url: url).url == url)
        #expect(ModelConfiguration("Trips", schema: schema, url: url, allowsSave: false, key: key).id == url)
    }

    @Test func `its durability reaches the store and is compared`() throws {
        let key = EncryptionKey.passphrase("sesame")
        let url = FileManager.default.temporaryDirectory.appending(path: "trips.store")
        let durable = ModelConfiguration(url: url, key: key, durability: .powerLoss)
        let usual = ModelConfiguration(url: url, key: key)
        #expect(usual.durability == .applicationCrash)
        #expect(durable != usual)
        for configuration in [durable, usual] {
            let options = try configuration.storeDescription(
                entityNames: [],
                of: Schema(),
                StoreVersions(of: Schema(), nil)
            ).options
            #expect(options[SealedStore.durabilityOption] as? Durability == configuration.durability)
        }
        #expect(ModelConfiguration(key: key, durability: .powerLoss).durability == .powerLoss)
        #expect(ModelConfiguration(for: Travels.Guide.self, key: key, durability: .powerLoss).durability == .powerLoss)
        #expect(ModelConfiguration("Trips", key: key, durability: .powerLoss).durability == .powerLoss)
        var changed = usual
        changed.durability = .powerLoss
        #expect(changed == durable)
    }

    @Test func `options of Apple's services are kept and have no effect`() {
        let configuration = ModelConfiguration(
            groupContainer: .identifier("group.trips"),
            cloudKitDatabase: .private("iCloud.trips")
        )
        #expect(configuration.groupAppContainerIdentifier == "group.trips")
        #expect(configuration.cloudKitContainerIdentifier == "iCloud.trips")
        #if !canImport(Darwin)
            #expect(configuration.url == ModelConfiguration().url)
        #endif
        #expect(configuration != ModelConfiguration())
        let given = ModelConfiguration(groupContainer: .automatic)
        #expect(given.url == ModelConfiguration(groupContainer: .none).url)
        #expect(ModelConfiguration.CloudKitDatabase.none != .automatic)
    }

    @Test func `keys are neither compared nor printed`() {
        let url = URL(filePath: "/data/trips.store")
        let one = ModelConfiguration(url: url, key: .passphrase("sesame"))
        let other = ModelConfiguration(url: url, key: .passphrase("street"))
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        var dumped = ""
        dump(one, to: &dumped)
        for text in [dumped, one.debugDescription, String(describing: one), String(reflecting: one)] {
            #expect(!text.contains("sesame"))
        }
    }

    @Test func `a name that is not a file name is refused`() throws {
        #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
            try ModelConfiguration("a/b").validate()
        }
        #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
            try ModelConfiguration("").validate()
        }
        #expect(throws: SwiftDataError.configurationFileNameTooLong) {
            try ModelConfiguration(String(repeating: "n", count: 250)).validate()
        }
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelConfiguration(url: #require(URL(string: "https://example.com/a.store"))).validate()
        }
        #expect(throws: SwiftDataError.configurationFileNameTooLong) {
            try ModelConfiguration(url: URL(filePath: "/data/" + String(repeating: "n", count: 248))).validate()
        }
        try ModelConfiguration("Trips").validate()
        try ModelConfiguration(String(repeating: "n", count: 250), isStoredInMemoryOnly: true).validate()
    }

    @Test func `stores with the longest valid names are created`() throws {
        let folder = TemporaryFolder()
        for count in [200, 225, 247] {
            let name = String(repeating: "n", count: count)
            let configuration = ModelConfiguration(url: folder.file(name), key: .passphrase("sesame"))
            try configuration.validate()
            let container = try ModelContainer(for: Travels.Guide.self, configurations: configuration)
            try container.backUp(to: folder.file("b\(name.dropFirst())"))
        }
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [])
    }
}
