import Foundation
import SealedData

extension SymbolList {
    mutating func addSchema() {
        add("Schema", Schema.self)
        add("Schema.schemaEncodingVersion", { Schema.schemaEncodingVersion })
        add("Schema.encodingVersion", \Schema.encodingVersion)
        add("Schema.version", \Schema.version)
        add("Schema.entities", \Schema.entities)
        add("Schema.entitiesByName", \Schema.entitiesByName)
        add("Schema.init()", { Schema() })
        add(
            "Schema.init(_:version:)",
            {
                let version = Schema.Version(1, 0, 0)
                return (
                    Schema(Schema.Entity("A"), version: version), Schema([Probe.self], version: version),
                    Schema(Probe.self)
                )
            }
        )
        add("Schema.init(versionedSchema:)", { Schema(versionedSchema: $0) } as (any VersionedSchema.Type) -> Schema)
        add("Schema.init(from:)", Schema.init(from:))
        add("Schema.encode(to:)", Schema.encode)
        add("Schema.save(to:)", Schema.save)
        add("Schema.load(from:)", Schema.load)
        add("Schema.entity(for:)", { (schema: Schema) in schema.entity(for: Probe.self) })
        add("Schema.entityName(for:)", { Schema.entityName(for: Probe.self) })
        add("Schema.==(_:_:)", { $0 == $1 } as (Schema, Schema) -> Bool)
        add("Schema.hash(into:)", Schema.hash)
        add("Schema.debugDescription", \Schema.debugDescription)

        add("Schema.Version", Schema.Version.self)
        add("Schema.Version.init(_:_:_:)", Schema.Version.init(_:_:_:))
        add("Schema.Version.major", \Schema.Version.major)
        add("Schema.Version.minor", \Schema.Version.minor)
        add("Schema.Version.patch", \Schema.Version.patch)
        add("Schema.Version.<(_:_:)", { $0 < $1 } as (Schema.Version, Schema.Version) -> Bool)
        add("Schema.Version.description", \Schema.Version.description)

        add("Schema.PropertyMetadata", Schema.PropertyMetadata.self)
        add(
            "Schema.PropertyMetadata.init(name:keypath:defaultValue:metadata:)",
            {
                Schema.PropertyMetadata(name: "", keypath: \Probe.name, defaultValue: nil, metadata: nil)
            }
        )

        add("Schema.Entity", Schema.Entity.self)
        add("Schema.Entity.init(_:)", { Schema.Entity("A") })
        add("Schema.Entity.init(_:properties:)", { Schema.Entity("A", properties: Schema.Attribute()) })
        add(
            "Schema.Entity.init(_:subentities:properties:)",
            {
                Schema.Entity("A", subentities: Schema.Entity("B"), properties: Schema.Attribute())
            }
        )
        add("Schema.Entity.name", \Schema.Entity.name as ReferenceWritableKeyPath)
        add("Schema.Entity.subentities", \Schema.Entity.subentities as ReferenceWritableKeyPath)
        add("Schema.Entity.superentityName", \Schema.Entity.superentityName as ReferenceWritableKeyPath)
        add("Schema.Entity.superentity", \Schema.Entity.superentity as ReferenceWritableKeyPath)
        add("Schema.Entity.storedProperties", \Schema.Entity.storedProperties as ReferenceWritableKeyPath)
        add("Schema.Entity.inheritedProperties", \Schema.Entity.inheritedProperties as ReferenceWritableKeyPath)
        add("Schema.Entity.properties", \Schema.Entity.properties)
        add("Schema.Entity.attributes", \Schema.Entity.attributes)
        add("Schema.Entity.relationships", \Schema.Entity.relationships)
        add("Schema.Entity.attributesByName", \Schema.Entity.attributesByName)
        add("Schema.Entity.relationshipsByName", \Schema.Entity.relationshipsByName)
        add("Schema.Entity.storedPropertiesByName", \Schema.Entity.storedPropertiesByName)
        add("Schema.Entity.inheritedPropertiesByName", \Schema.Entity.inheritedPropertiesByName)
        add("Schema.Entity.uniquenessConstraints", \Schema.Entity.uniquenessConstraints as ReferenceWritableKeyPath)
        add("Schema.Entity.indices", \Schema.Entity.indices as ReferenceWritableKeyPath)
        add("Schema.Entity.debugDescription", \Schema.Entity.debugDescription)
        add("Schema.Entity.init(from:)", Schema.Entity.init(from:))
        add("Schema.Entity.encode(to:)", Schema.Entity.encode)

        add("VersionedSchema", (any VersionedSchema).self)
        add("VersionedSchema.models", { $0.models } as (any VersionedSchema.Type) -> [any PersistentModel.Type])
        add(
            "VersionedSchema.versionIdentifier",
            { $0.versionIdentifier } as (any VersionedSchema.Type) -> Schema.Version
        )
        add("SchemaMigrationPlan", (any SchemaMigrationPlan).self)
        add(
            "SchemaMigrationPlan.schemas",
            { $0.schemas } as (any SchemaMigrationPlan.Type) -> [any VersionedSchema.Type]
        )
        add("SchemaMigrationPlan.stages", { $0.stages } as (any SchemaMigrationPlan.Type) -> [MigrationStage])
        add("MigrationStage.lightweight(fromVersion:toVersion:)", MigrationStage.lightweight)
        add("MigrationStage.custom(fromVersion:toVersion:willMigrate:didMigrate:)", MigrationStage.custom)
    }

    mutating func addProperties() {
        add("SchemaProperty", (any SchemaProperty).self)
        func use<Property: SchemaProperty>(_ type: Property.Type, _ list: inout SymbolList) {
            list.add("SchemaProperty.name", \Property.name as WritableKeyPath)
            list.add("SchemaProperty.originalName", \Property.originalName as WritableKeyPath)
            list.add("SchemaProperty.valueType", \Property.valueType as WritableKeyPath)
            list.add("SchemaProperty.isAttribute", \Property.isAttribute)
            list.add("SchemaProperty.isRelationship", \Property.isRelationship)
            list.add("SchemaProperty.isTransient", \Property.isTransient)
            list.add("SchemaProperty.isOptional", \Property.isOptional)
            list.add("SchemaProperty.isUnique", \Property.isUnique)
        }
        use(Schema.Attribute.self, &self)

        add("Schema.Attribute", Schema.Attribute.self)
        add(
            "Schema.Attribute.init(_:originalName:hashModifier:)",
            {
                Schema.Attribute(.unique, .spotlight, originalName: "", hashModifier: "")
            }
        )
        add(
            "Schema.Attribute.init(name:originalName:options:valueType:defaultValue:hashModifier:)",
            {
                Schema.Attribute(
                    name: "",
                    originalName: nil,
                    options: [],
                    valueType: Int.self,
                    defaultValue: 0,
                    hashModifier: nil
                )
            }
        )
        add("Schema.Attribute.options", \Schema.Attribute.options as ReferenceWritableKeyPath)
        add("Schema.Attribute.defaultValue", \Schema.Attribute.defaultValue as ReferenceWritableKeyPath)
        add("Schema.Attribute.hashModifier", \Schema.Attribute.hashModifier as ReferenceWritableKeyPath)
        add("Schema.Attribute.isTransformable", \Schema.Attribute.isTransformable)
        add("Schema.Attribute.isCodable", \Schema.Attribute.isCodable)
        add("Schema.Attribute.Option.unique", { Schema.Attribute.Option.unique })
        add(
            "Schema.Attribute.Option.transformable(by:)",
            {
                (Schema.Attribute.Option.transformable(by: ValueTransformer.self), .transformable(by: "Name"))
                    as (Schema.Attribute.Option, Schema.Attribute.Option)
            }
        )
        add("Schema.Attribute.Option.externalStorage", { Schema.Attribute.Option.externalStorage })
        add("Schema.Attribute.Option.allowsCloudEncryption", { Schema.Attribute.Option.allowsCloudEncryption })
        add("Schema.Attribute.Option.preserveValueOnDeletion", { Schema.Attribute.Option.preserveValueOnDeletion })
        add("Schema.Attribute.Option.ephemeral", { Schema.Attribute.Option.ephemeral })
        add("Schema.Attribute.Option.spotlight", { Schema.Attribute.Option.spotlight })
        add("Schema.Attribute.Option.codable", { Schema.Attribute.Option.codable })

        add("Schema.CompositeAttribute", Schema.CompositeAttribute.self)
        add("Schema.CompositeAttribute.properties", \Schema.CompositeAttribute.properties as ReferenceWritableKeyPath)
        add(
            "Schema.CompositeAttribute.init(name:originalName:options:valueType:defaultValue:hashModifier:)",
            {
                Schema.CompositeAttribute(name: "", valueType: Int.self)
            }
        )
        add(
            "Schema.CompositeAttribute.==(_:_:)",
            { $0 == $1 } as (Schema.CompositeAttribute, Schema.CompositeAttribute) -> Bool
        )

        add("Schema.Relationship", Schema.Relationship.self)
        add(
            "Schema.Relationship.init(_:deleteRule:minimumModelCount:maximumModelCount:originalName:inverse:hashModifier:)",
            {
                Schema.Relationship(
                    .unique,
                    deleteRule: .deny,
                    minimumModelCount: 0,
                    maximumModelCount: 0,
                    originalName: "",
                    inverse: \Probe.below,
                    hashModifier: ""
                )
            }
        )
        add("Schema.Relationship.keypath", \Schema.Relationship.keypath as ReferenceWritableKeyPath)
        add("Schema.Relationship.options", \Schema.Relationship.options as ReferenceWritableKeyPath)
        add("Schema.Relationship.destination", \Schema.Relationship.destination as ReferenceWritableKeyPath)
        add("Schema.Relationship.deleteRule", \Schema.Relationship.deleteRule as ReferenceWritableKeyPath)
        add("Schema.Relationship.inverseName", \Schema.Relationship.inverseName as ReferenceWritableKeyPath)
        add("Schema.Relationship.inverseKeyPath", \Schema.Relationship.inverseKeyPath as ReferenceWritableKeyPath)
        add("Schema.Relationship.minimumModelCount", \Schema.Relationship.minimumModelCount as ReferenceWritableKeyPath)
        add("Schema.Relationship.maximumModelCount", \Schema.Relationship.maximumModelCount as ReferenceWritableKeyPath)
        add("Schema.Relationship.hashModifier", \Schema.Relationship.hashModifier as ReferenceWritableKeyPath)
        add("Schema.Relationship.isToOneRelationship", \Schema.Relationship.isToOneRelationship)
        add(
            "Schema.Relationship.DeleteRule",
            {
                [.noAction, .nullify, .cascade, .deny] as [Schema.Relationship.DeleteRule]
            }
        )
        add("Schema.Relationship.Option.unique", { Schema.Relationship.Option.unique })

        add("Schema.Index", Schema.Index<Probe>.self)
        add(
            "Schema.Index.init(_:)",
            {
                (Schema.Index<Probe>([\.name]), Schema.Index<Probe>(.rtree([\.count])))
            }
        )
        add("Schema.Index.indices", \Schema.Index<Probe>.indices)
        add(
            "Schema.Index.Types",
            {
                [.binary([\.name]), .rtree([\.count])] as [Schema.Index<Probe>.Types<Probe>]
            }
        )
        add("Schema.Unique", Schema.Unique<Probe>.self)
        add("Schema.Unique.init(_:)", { Schema.Unique<Probe>([\.name]) })
        add("Schema.Unique.constraints", \Schema.Unique<Probe>.constraints)
    }
}
