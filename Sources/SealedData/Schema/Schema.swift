public import Foundation
import ObjectGraph
import Guarded

/// The model classes of an app, with their properties, relationships and constraints.
///
/// ```swift
/// let schema = Schema([Trip.self, Stop.self], version: Schema.Version(1, 1, 0))
/// ```
///
/// A schema of classes contains all classes that are reachable from them through relationships, and their model
/// superclasses. The ``ModelContainer`` that uses the schema throws all of its problems at once, such as inverses that
/// do not exist.
public final class Schema: Codable, Hashable, CustomDebugStringConvertible, Sendable {
    /// The version of the encoding format of schemas.
    public static let schemaEncodingVersion = Version(1, 0, 0)

    /// The version of this schema's encoding format.
    public let encodingVersion: Version
    /// The version of the data that the schema describes.
    public let version: Version

    private let content: Guarded<Content>
    private let model = Guarded<Result<ManagedObjectModel, SwiftDataError>?>(nil)

    /// The contents of the schema.
    private enum Content {
        /// Classes that have not been read, because no caller has accessed the entities, which are mutable.
        case classes([any PersistentModel.Type])
        /// Entities, and the known problems of their classes.
        case entities([Entity], [ModelError.Problem])
    }

    private init(_ content: Content, _ version: Version, encodingVersion: Version = schemaEncodingVersion) {
        self.content = Guarded(content)
        self.version = version
        self.encodingVersion = encodingVersion
    }

    convenience init(entities: [Entity], version: Version, encodingVersion: Version = schemaEncodingVersion) {
        self.init(.entities(entities, []), version, encodingVersion: encodingVersion)
    }

    /// The entities, in the order in which they were given or reached.
    public var entities: [Entity] { contentAsRead.entities }

    /// The known problems of the classes.
    var problems: [ModelError.Problem] { contentAsRead.problems }

    private var contentAsRead: (entities: [Entity], problems: [ModelError.Problem]) {
        switch content.withLock({ $0 }) {
        case .entities(let entities, let problems): return (entities, problems)
        case .classes(let types):
            // Outside the lock: reading a class evaluates default values, which runs the program's code.
            let reader = SchemaReader(types)
            return content.withLock { content in
                if case .entities(let entities, let problems) = content { return (entities, problems) }
                content = .entities(reader.entities, reader.problems)
                return (reader.entities, reader.problems)
            }
        }
    }

    /// Makes a schema without entities, of version 1.0.0.
    public convenience init() {
        self.init(entities: [], version: Version(1, 0, 0))
    }

    /// Makes a schema of entities.
    public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
        self.init(entities: entities, version: version)
    }

    /// Makes a schema of model classes and all classes that are reachable from them.
    public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
        self.init(.classes(types), version)
    }

    /// Makes a schema of model classes and all classes that are reachable from them.
    public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
        self.init(types, version: version)
    }

    /// The entities by name.
    public var entitiesByName: [String: Entity] {
        Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the entity of a model class; nil if the schema does not contain the class.
    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
        entities.first { $0.modelType == type }
            ?? entities.first { $0.modelType == nil && $0.name == Self.entityName(for: type) }
    }

    /// Returns the name of the entity of a model class: the name of the class, without its module and enclosing types.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String {
        String(describing: type)
    }

    // MARK: Models

    /// A linked model, and the class of each entity by the entity's name.
    struct LinkedClasses {
        let model: ManagedObjectModel
        let classes: [String: any PersistentModel.Type]
        /// The class of each entity, as a coordinator takes it.
        let graphClasses: [String: any GraphObject.Type]

        fileprivate init(_ model: ManagedObjectModel, _ classes: [String: any PersistentModel.Type]) {
            self.model = model
            self.classes = classes
            graphClasses = classes
        }
    }

    /// The models of lists of classes, cached because classes do not change at run time.
    private static let linkedClasses = Guarded<[[ObjectIdentifier]: LinkedClasses]>([:])

    /// Returns the linked model of the schema.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` with all problems.
    /// - Complexity: O(1) if the model of the same classes is cached.
    func makeModel() throws -> LinkedClasses {
        guard case .classes(let types) = content.withLock({ $0 }) else { return try linked() }
        let key = types.map { ObjectIdentifier($0) }
        if let known = Self.linkedClasses.withLock({ $0[key] }) { return known }
        // A new schema, whose entities no other code can change.
        let linked = try Schema(types).linked()
        Self.linkedClasses.withLock { $0[key] = linked }
        return linked
    }

    private func linked() throws -> LinkedClasses {
        let entities = entities
        let model = try model.withLock { model in
            if let model { return model }
            let made = Result { () throws(SwiftDataError) in try SchemaLinker(self).model() }
            model = made
            return made
        }.get()
        let classes = entities.compactMap { entity in entity.modelType.map { (entity.name, $0) } }
        return LinkedClasses(model, Dictionary(classes, uniquingKeysWith: { first, _ in first }))
    }

    /// Whether both have the same version and the same entities, in any order.
    public static func == (left: Schema, right: Schema) -> Bool {
        left === right || (left.version == right.version && Set(left.entities) == Set(right.entities))
    }

    /// Hashes the version and the names of the entities.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(Set(entities.map(\.name)))
    }

    /// The version and the entities.
    public var debugDescription: String {
        (["Schema(\(version))"] + entities.map(\.debugDescription)).joined(separator: "\n")
    }
}

extension Schema {
    private enum CodingKeys: String, CodingKey {
        case encodingVersion, version, entities
    }

    /// Decodes the format of ``encode(to:)``.
    ///
    /// Classes are looked up by name.
    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let entities = try container.decode([Entity].self, forKey: .entities)
        Self.link(entities)
        try self.init(
            entities: entities,
            version: container.decode(Version.self, forKey: .version),
            encodingVersion: container.decode(Version.self, forKey: .encodingVersion)
        )
    }

    /// Encodes the versions and the entities, without key paths.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(encodingVersion, forKey: .encodingVersion)
        try container.encode(version, forKey: .version)
        try container.encode(entities, forKey: .entities)
    }

    /// Writes the schema to a file, as JSON. The file is not encrypted: it contains names and rules, and no values.
    ///
    /// - Throws: Errors of writing the file.
    public func save(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: url, options: .atomic)
    }

    /// Reads a schema from a file that ``save(to:)`` wrote.
    ///
    /// - Throws: Errors of reading the file, and `DecodingError` for a file of another kind.
    public static func load(from url: URL) throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url))
    }

    /// Connects entities with their superentities, by name.
    static func link(_ entities: [Entity]) {
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for entity in entities {
            guard let superentity = entity.superentityName.flatMap({ byName[$0] }) else { continue }
            entity.superentity = superentity
            superentity.subentities.insert(entity)
        }
        for entity in entities {
            var inherited: [any SchemaProperty] = []
            var visited: Set<ObjectIdentifier> = [ObjectIdentifier(entity)]
            var next = entity.superentity
            while let superentity = next, visited.insert(ObjectIdentifier(superentity)).inserted {
                inherited = superentity.storedProperties + inherited
                next = superentity.superentity
            }
            entity.inheritedProperties = inherited
        }
    }
}
