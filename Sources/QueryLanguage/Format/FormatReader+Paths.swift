extension FormatReader {
    /// The state of following a key path.
    private struct Walk {
        /// The variable that the path starts from.
        var start: Int
        /// The properties since the start, or since the last to-many relationship.
        var path: [Property] = []
        /// The entity of the next property; nil after an attribute.
        var entity: Entity?
        var type: FormatType
        /// The to-many relationships of the path.
        var collection: FormatCollection?
        /// The collection operators and their positions.
        var collectionOperators: [(name: String, range: Range<String.Index>)] = []
        /// The path of keys into the composite value at the end.
        var keys: [ComponentKey] = []
        /// The function of the attribute at the end.
        var function: QueryExpression.Function?

        init(object entity: Entity, variable: Int, path: [Property] = []) {
            start = variable
            self.path = path
            self.entity = entity
            type = .object(entity)
        }

        init(_ collection: FormatCollection) {
            start = collection.variable + collection.levels.count - 1
            path = collection.path
            type = collection.type
            self.collection = collection
            if case .object(let entity) = type { self.entity = entity }
        }
    }

    /// Reads a key path from the object of the predicate, or from `base`.
    mutating func path(
        _ base: FormatSyntax?,
        _ steps: [FormatSyntax.Step],
        at syntax: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        var walk = try start(of: base)
        var isFirst = base == nil
        for step in steps {
            let kinds =
                if case .argument(let placeholder) = step.kind {
                    try names(for: placeholder, at: step.range)
                } else {
                    [step.kind]
                }
            for kind in kinds {
                switch kind {
                case .name(let name) where isFirst && kinds.count > 1 && name.lowercased() == "self": break
                case .name(let name): try follow(name, &walk, at: step.range)
                case .collectionOperator(let name): walk.collectionOperators.append((name, step.range))
                case .argument: break
                }
                isFirst = false
            }
        }
        return try operand(of: walk, at: syntax)
    }

    private mutating func start(of base: FormatSyntax?) throws(PredicateFormatError) -> Walk {
        guard let base else {
            return Walk(object: subject.entity, variable: subject.variable, path: subject.path)
        }
        switch try operand(base) {
        case .value(.variable(let variable), .object(let entity)): return Walk(object: entity, variable: variable)
        case .value(.path(let start, let path), .object(let entity)):
            return Walk(object: entity, variable: start, path: path)
        case .collection(let collection):
            return Walk(collection)
        default: break
        }
        throw error(.mismatchedTypes, "\(text(of: base)) has no properties", at: base.range)
    }

    /// Follows a property of a name.
    private func follow(
        _ name: String,
        _ walk: inout Walk,
        at range: Range<String.Index>
    ) throws(PredicateFormatError) {
        guard let entity = walk.entity else {
            if name == "length", walk.type == .attribute(.string), walk.function == nil {
                walk.function = .length
                walk.type = .attribute(.int64)
                return
            }
            if walk.type == .attribute(.composite) || !walk.keys.isEmpty {
                walk.keys.append(.name(name))
                walk.type = .unknown
                return
            }
            throw error(.unknownName, "\(walk.type.kindDescription) has no property '\(name)'", at: range)
        }
        let property = try property(name, of: entity, at: range)
        walk.path.append(property)
        switch property {
        case .attribute(let attribute):
            walk.entity = nil
            walk.type = .attribute(attribute.type)
        case .relationship(let relationship):
            walk.entity = relationship.destination
            walk.type = .object(relationship.destination)
            if relationship.isToMany { enter(.members(walk.path), &walk) }
        }
    }

    /// Continues with the members of a collection at the end of the path.
    private func enter(_ level: FormatCollection.Level, _ walk: inout Walk) {
        if walk.collection == nil {
            walk.collection = FormatCollection(start: walk.start, variable: depth, levels: [], type: walk.type)
        }
        walk.collection?.levels.append(level)
        walk.path = []
    }

    /// Returns the property of a name, of the entity or a descendant of it.
    private func property(
        _ name: String,
        of entity: Entity,
        at range: Range<String.Index>
    ) throws(PredicateFormatError) -> Property {
        if let property = entity.propertiesByName[name] { return property }
        let inherited = Set(entity.family.compactMap { $0.propertiesByName[name] })
        if let property = inherited.first, inherited.count == 1 { return property }
        if inherited.count > 1 {
            let owners = entity.family.filter { $0.propertiesByName[name] != nil }.map { "'\($0.name)'" }
            let message = """
                several entities have a property '\(name)', \(owners.joined(separator: ", ")): \
                write CAST(…, \(owners[0])).\(name)
                """
            throw error(.unknownName, message, at: range)
        }
        throw error(
            .unknownName,
            "entity '\(entity.name)' has no property '\(name)'",
            suggestions: NameSuggestions(for: name, among: entity.family.flatMap(\.propertiesByName.keys)).names,
            at: range
        )
    }

    // MARK: The end of a path

    private mutating func operand(
        of walk: Walk,
        at syntax: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        var value = QueryExpression.end(of: walk.path, from: walk.start)
        if !walk.keys.isEmpty { value = .component(walk.keys, of: value, type: .composite) }
        var collection = walk.collection
        if collection == nil, !walk.collectionOperators.isEmpty { collection = elements(of: value, walk.type) }
        if var collection {
            guard walk.function == nil, walk.keys.isEmpty || walk.collection == nil else {
                let message = "parts of the members of a collection cannot be looked at; use SUBQUERY"
                throw error(.unsupported, message, at: syntax.range)
            }
            if walk.collection != nil {
                collection.path = walk.path
                collection.type = walk.type
            }
            if walk.collectionOperators.isEmpty { return .collection(collection) }
            return try aggregate(collection, walk.collectionOperators)
        }
        if let (name, range) = walk.collectionOperators.first {
            throw error(.mismatchedTypes, "'@\(name)' needs a collection, which \(text(of: syntax)) is not", at: range)
        }
        if let function = walk.function { return .value(.function(function, [value]), walk.type) }
        return .value(value, walk.type)
    }

    /// Returns the elements of a composite value as a collection; nil for values of other types.
    func elements(of value: QueryExpression, _ type: FormatType) -> FormatCollection? {
        switch (value, type) {
        case (_, .attribute(.composite)), (.component(_, _, .composite), .unknown), (.element(_, .composite), .unknown):
            FormatCollection(
                start: 0,
                variable: depth,
                levels: [.elements(value)],
                type: .unknown
            )
        default: nil
        }
    }
}

extension QueryExpression {
    /// The value at the end of a path, which may be empty.
    fileprivate static func end(of path: [Property], from start: Int) -> QueryExpression {
        path.isEmpty ? .variable(start) : .path(from: start, path)
    }
}
