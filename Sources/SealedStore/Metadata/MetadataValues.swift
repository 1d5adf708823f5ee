import Foundation
import Guarded
import ObjectGraph

/// The texts in the table of metadata, each of which is decoded separately: an opening requires all of them, and a
/// salvage uses those that it can read.
struct MetadataValues {
    /// The keys of the rows.
    enum Key: String {
        case uuid, format, model, union, names, version, migrations
    }

    /// The prefix of the name of a column in the key of the row that records it, see ``TextForms``.
    static let mixedFormsPrefix = "mixed "

    /// The texts by the keys of their rows.
    let texts: [String: String]

    init(_ texts: [String: String]) {
        self.texts = texts
    }

    /// The text of a row; nil if the row is missing.
    subscript(key: Key) -> String? { texts[key.rawValue] }

    // Each of the following values is nil if its row is missing or cannot be decoded.

    var uuid: UUID? { self[.uuid].flatMap(UUID.init(uuidString:)) }

    var formatVersion: Int? {
        self[.format].flatMap { Int($0) }
            .flatMap { $0 >= StoreFormat.first ? $0 : nil }
    }

    var migrationCount: Int? {
        self[.migrations].flatMap { Int($0) }.flatMap { (0..<Int.max).contains($0) ? $0 : nil }
    }

    var modelVersion: ModelVersion? { self[.version].flatMap(ModelVersion.init) }

    var model: ManagedObjectModel? { Self.decoded(self[.model], Self.models) }

    /// The model of the tables, if they also hold what ``model`` does not have.
    var union: ManagedObjectModel? { Self.decoded(self[.union], Self.models) }

    var names: SchemaNames? { Self.decoded(self[.names], Self.knownNames) }

    /// The columns with texts that are not in normalization form C.
    var columnsOfMixedForms: Set<String> {
        Set(
            texts.keys.filter { $0.hasPrefix(Self.mixedFormsPrefix) }
                .map { String($0.dropFirst(Self.mixedFormsPrefix.count)) }
        )
    }

    // Models are cached by their texts: decoding a model costs more than opening the file.
    private static let models = Guarded(BoundedCache<String, ManagedObjectModel>(limit: 16))
    private static let knownNames = Guarded(BoundedCache<String, SchemaNames>(limit: 16))

    private static func decoded<T: Decodable>(_ text: String?, _ known: Guarded<BoundedCache<String, T>>) -> T? {
        guard let text else { return nil }
        return try? known.value(for: text) { try JSONDecoder().decode(T.self, from: Data(text.utf8)) }
    }
}
