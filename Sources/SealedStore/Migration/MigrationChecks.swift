import ObjectGraph

/// The conditions that the data of a store must meet before a migration.
struct MigrationChecks {
    private let context: MigrationContext
    private let target: MigrationPlan.Target
    private(set) var all: [MigrationCheck] = []

    init(_ context: MigrationContext, _ tables: [TableMigration], _ target: MigrationPlan.Target) {
        self.context = context
        self.target = target
        if target.refusesLosses { checkLosses() }
        for table in tables {
            if context.nextKeys[table.root.name] == .some(nil) {
                add(table.root, nil, .exhaustedKeys, "SELECT 1")
            }
            for source in table.sources { checkEntities(source) }
            for column in table.columns {
                guard let property = column.property else { continue }
                for (source, expression) in zip(table.sources, column.expressions) {
                    switch property {
                    case .attribute(let attribute): check(attribute, source)
                    case .relationship(let relationship): checkMissing(relationship, source, expression)
                    }
                }
            }
            for entity in table.root.family { checkUniqueness(of: entity, table) }
        }
        for relationship in context.mapping.new.relationships { check(relationship) }
    }

    private mutating func add(_ entity: Entity, _ property: String?, _ kind: MigrationProblem.Kind, _ sql: String) {
        all.append(MigrationCheck(entity: entity.name, property: property, kind: kind, sql: sql))
    }

    private func count(_ source: RowSource, _ members: [Entity], _ conditions: [String]) -> String {
        let conditions = source.conditions(members) + conditions
        return "SELECT count(*) FROM \(source.oldTable.name) AS s\(conditions.joined(behind: "WHERE"))"
    }

    private mutating func checkEntities(_ source: RowSource) {
        for member in source.members where member.new.isAbstract {
            add(member.new, nil, .abstractEntity, count(source, [member.old], []))
        }
    }

    // MARK: Losses

    /// Checks that entities and properties without a place in the new model have no data.
    private mutating func checkLosses() {
        let mapping = context.mapping
        for entity in mapping.old.entities where !entity.isAbstract {
            let table = context.oldSchema.table(of: entity)
            let isOwn = RowSource.condition([entity], table, "s")
            guard let new = mapping.newEntities[entity] else {
                add(entity, nil, .lost, "SELECT count(*) FROM \(table.name) AS s WHERE \(isOwn)")
                continue
            }
            let kept = Set(new.properties.compactMap { mapping.old(of: $0, in: new) })
            for property in entity.properties where !kept.contains(property) {
                switch property {
                case .attribute:
                    guard let column = table.column(of: property)?.name else { continue }
                    let sql = "SELECT count(*) FROM \(table.name) AS s WHERE \(isOwn) AND s.\(column) IS NOT NULL"
                    add(entity, property.name, .lost, sql)
                case .relationship(let relationship) where !hasOtherSide(relationship):
                    add(entity, property.name, .lost, count(relationship, owners: [entity]))
                case .relationship: continue
                }
            }
        }
    }

    /// Whether the pairs of an old relationship are kept as the pairs of its inverse.
    private func hasOtherSide(_ relationship: Relationship) -> Bool {
        guard let inverse = relationship.inverse, inverse !== relationship else { return false }
        return inverse.source.family.allSatisfy { member in
            guard let new = context.mapping.newEntities[member] else { return true }
            return new.properties.contains { context.mapping.old(of: $0, in: new) == .relationship(inverse) }
        }
    }

    /// The statement that counts the pairs of an old relationship.
    private func count(_ relationship: Relationship, owners: [Entity]) -> String {
        let pairs = PairSource(
            relationship,
            isReversed: false,
            owners: owners,
            members: relationship.destination.family,
            foreignMembers: [],
            ownerOffset: 0,
            memberOffset: 0,
            context.oldSchema
        )
        return "SELECT count(*) FROM (\(pairs.selection))"
    }

    // MARK: Attributes

    private mutating func check(_ attribute: Attribute, _ source: RowSource) {
        let property = Property.attribute(attribute)
        guard let entity = context.mapping.new.entitiesByName[attribute.declaringEntityName] else { return }
        let isFilled = attribute.isOptional || context.defaultValue(of: attribute) != nil
        // Members with the same old attribute are counted by one statement.
        var olds: [(old: Property?, members: [Entity])] = []
        for member in source.members where member.new.propertiesByName[attribute.name] == property {
            let old = context.mapping.old(of: property, in: member.new)
            if let known = olds.firstIndex(where: { $0.old == old }) {
                olds[known].members.append(member.old)
            } else {
                olds.append((old, [member.old]))
            }
        }
        for (old, members) in olds {
            guard case .attribute(let oldAttribute)? = old,
                let column = source.oldTable.column(of: .attribute(oldAttribute))
            else {
                if case .relationship(let relationship)? = old { checkOtherKind(of: property, relationship, members) }
                if !isFilled { add(entity, attribute.name, .missingValue, count(source, members, [])) }
                continue
            }
            let stored = "s.\(column.name)"
            let expands = column.mayRefer && context.old.hasLargeValues
            let value = expands ? LargeValueReference.value(of: stored) : stored
            let kind = MigrationProblem.Kind.notConvertible(from: oldAttribute.type, to: attribute.type)
            if let conversion = AttributeConversion(from: oldAttribute.type, to: attribute.type) {
                if let failure = conversion.failure(value) {
                    let conditions = ["\(value) IS NOT NULL", "(\(failure))"]
                    add(entity, attribute.name, kind, count(source, members, conditions))
                }
            } else {
                add(entity, attribute.name, kind, count(source, members, ["\(value) IS NOT NULL"]))
            }
            checkNegativeZero(attribute, entity, column, source, members)
            if !isFilled, oldAttribute.isOptional {
                add(entity, attribute.name, .missingValue, count(source, members, ["\(value) IS NULL"]))
            }
        }
    }

    /// Counts the rows with negative zero if no bit of the table marks it: it would become zero.
    private mutating func checkNegativeZero(
        _ attribute: Attribute,
        _ entity: Entity,
        _ column: Column,
        _ source: RowSource,
        _ members: [Entity]
    ) {
        guard attribute.type.storage == .real,
            let new = context.newSchema.table(of: entity).column(of: .attribute(attribute)), new.signBit == nil,
            case .attribute(let old) = column.property,
            let conversion = AttributeConversion(from: old.type, to: attribute.type)
        else { return }
        let condition: String
        if let bit = column.signBit {
            condition = #"s."_version" & \#(VersionWord.mask(of: bit)) <> 0"#
        } else if conversion.mayMakeNegativeZero {
            condition = """
                \(AttributeConversion.signFunctionName)(s.\(column.name), '\(old.type.rawValue)', \
                '\(attribute.type.rawValue)') = 1
                """
        } else {
            return
        }
        add(entity, attribute.name, .negativeZero, count(source, members, [condition]))
    }

    private mutating func checkUniqueness(of entity: Entity, _ table: TableMigration) {
        for properties in entity.description.uniquenessConstraints {
            let columns = properties.compactMap { name in
                table.columns.first { $0.property == entity.propertiesByName[name] }
            }
            guard columns.count == properties.count, !isKnownUnique(properties, of: entity, columns, table) else {
                continue
            }
            let rows = table.sources.enumerated().compactMap { index, source -> String? in
                let members = source.members.filter { $0.new.isKind(of: entity) }.map(\.old)
                guard !members.isEmpty else { return nil }
                let values = columns.enumerated().map { "\($1.expressions[index].sql) AS c\($0)" }
                let conditions = source.conditions(members).joined(behind: "WHERE")
                return "SELECT \(values.joined(separator: ", ")) FROM \(source.oldTable.name) AS s\(conditions)"
            }
            guard !rows.isEmpty else { continue }
            let names = columns.indices.map { "c\($0)" }
            let isThere = names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            let groups = zip(names, columns).map { name, column in
                let isMixed =
                    column.property.flatMap { table.table.column(of: $0) }.map {
                        table.mixedColumns.contains(FileConditions.name(of: $0, in: table.table))
                    } ?? false
                return isMixed ? "\(name) COLLATE \(QueryFunctions.name(of: TextOrder.lexical))" : name
            }
            add(
                entity,
                nil,
                .duplicates(properties: properties),
                """
                SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM \
                (\(rows.joined(separator: " UNION ALL "))) WHERE \(isThere) \
                GROUP BY \(groups.joined(separator: ", ")) HAVING n > 1)
                """
            )
        }
    }

    /// Whether the values were unique before the migration, and the migration does not change them.
    private func isKnownUnique(
        _ properties: [String],
        of entity: Entity,
        _ columns: [TableMigration.MigratedColumn],
        _ table: TableMigration
    ) -> Bool {
        guard let old = context.mapping.old(of: entity) else { return false }
        let sources = table.sources.enumerated().filter { $1.members.contains { $0.new.isKind(of: entity) } }
        guard let source = sources.first, sources.count == 1 else { return false }
        let members = source.element.members.filter { $0.new.isKind(of: entity) }
        guard members.allSatisfy({ $0.old.isKind(of: old) }) else { return false }
        let slots = properties.map { name in
            entity.propertiesByName[name].flatMap { context.mapping.old(of: $0, in: entity) }?.slot
        }
        let areKept = columns.allSatisfy {
            if case .column = $0.expressions[source.offset] { true } else { false }
        }
        return areKept && old.uniquenessConstraints.contains { $0.map(Optional.some) == slots }
    }

    // MARK: Relationships

    private mutating func checkMissing(
        _ relationship: Relationship,
        _ source: RowSource,
        _ expression: ColumnExpression
    ) {
        guard !relationship.isOptional else { return }
        let members = source.members.filter { $0.new.isKind(of: relationship.source) }
        let wasRequired = members.allSatisfy { member in
            context.mapping.old(of: relationship, in: member.new).map { !$0.isToMany && !$0.isOptional } ?? false
        }
        if wasRequired, case .column = expression { return }
        guard !members.isEmpty else { return }
        let condition = "(\(expression.sql)) IS NULL"
        add(relationship.source, relationship.name, .missingValue, count(source, members.map(\.old), [condition]))
    }

    private mutating func check(_ relationship: Relationship) {
        let pairs = context.pairs(of: relationship)
        for source in pairs.sources where !source.isReversed {
            guard let sql = source.foreignMemberCount else { continue }
            if target.own.relationship(like: relationship) != nil {
                let kind = MigrationProblem.Kind.foreignMembers(destination: relationship.destination.name)
                add(relationship.source, relationship.name, kind, sql)
            } else if target.refusesLosses {
                // Adds a loss: the program does not have the relationship, so its pairs cannot be set aside.
                add(source.old.source, source.old.name, .lost, sql)
            }
        }
        if !relationship.isToMany, let sql = pairs.severalMembersCount {
            add(relationship.source, relationship.name, .severalMembers, sql)
        }
        for member in relationship.source.family {
            guard let oldEntity = context.mapping.old(of: member), !oldEntity.isAbstract,
                case .attribute(let attribute)? = context.mapping.old(of: .relationship(relationship), in: member),
                let column = context.oldSchema.table(of: oldEntity).column(of: .attribute(attribute))
            else { continue }
            let table = context.oldSchema.table(of: oldEntity)
            let condition = RowSource.condition([oldEntity], table, "s")
            add(
                relationship.source,
                relationship.name,
                .otherKind,
                "SELECT count(*) FROM \(table.name) AS s WHERE \(condition) AND s.\(column.name) IS NOT NULL"
            )
        }
    }

    private mutating func checkOtherKind(of property: Property, _ old: Relationship, _ members: [Entity]) {
        guard let entity = context.mapping.new.entitiesByName[property.declaringEntityName] else { return }
        add(entity, property.name, .otherKind, count(old, owners: members))
    }
}
