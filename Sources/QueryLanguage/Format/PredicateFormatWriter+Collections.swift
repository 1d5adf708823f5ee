extension PredicateFormatWriter {
    // MARK: Paths

    /// Returns the text of a path of properties, or of a variable.
    func path(_ expression: QueryExpression) -> String {
        switch expression {
        case .variable(let number), .element(let number, .composite): variable(number).name
        case .element(let number, let type):
            variable(number).standsForAll ? variable(number).name : Self.cast(variable(number).name, to: type)
        case .component(let keys, .path(let start, let path), let type):
            Self.cast(self.path(.path(from: start, path)) + Self.text(of: keys), to: type)
        // Only a path from the object of the predicate has no prefix.
        case .path(let start, let path):
            self.path(path, after: start == 0 ? "" : variable(start).name, from: variable(start).entity)
        default: ""
        }
    }

    /// Returns the text of a path into a composite value.
    private static func text(of keys: [ComponentKey]) -> String {
        keys.map { key in
            switch key {
            case .name(let name): ".\(escaped(name))"
            case .index(let index): "[\(index)]"
            }
        }.joined()
    }

    private static func cast(_ text: String, to type: AttributeType) -> String {
        type == .composite ? text : "CAST(\(text), '\(type.rawValue)')"
    }

    private func variable(_ number: Int) -> Variable {
        variables.indices.contains(number) ? variables[number] : Variable(name: "$x\(number)", entity: nil)
    }

    /// Returns the text of a path after a prefix. A property of descendants of the static entity is written with a cast
    /// if several descendants have a property of its name.
    private func path(_ path: some Collection<Property>, after start: String, from entity: Entity?) -> String {
        var text = start
        var entity = entity
        for step in path {
            if let known = entity, let owner = known.owner(ofAmbiguous: step) {
                text = "CAST(\(text.isEmpty ? "SELF" : text), \(Self.quoted(owner.name)))"
            }
            let name = Self.escaped(step.name)
            text += text.isEmpty ? Self.reserving(name) : ".\(name)"
            if case .relationship(let relationship) = step { entity = relationship.destination } else { entity = nil }
        }
        return text
    }

    /// Returns the text of a name after a dot.
    private static func escaped(_ name: String) -> String {
        var text = ""
        for (position, scalar) in name.unicodeScalars.enumerated() {
            let isPlain =
                switch scalar {
                case "a"..."z", "A"..."Z", "_": true
                case "0"..."9": position > 0
                default: scalar.value >= 0x80 && !scalar.properties.isWhitespace
                }
            if isPlain { text.unicodeScalars.append(scalar) } else { text += numbered(scalar) }
        }
        return text
    }

    /// Returns the text of a name, with `#` before a reserved word.
    private static func reserving(_ name: String) -> String { FormatKeyword(text: name) == nil ? name : "#\(name)" }

    // MARK: Collections

    /// Returns the text of a collection.
    private mutating func collection(_ source: CollectionSource) -> String {
        switch source {
        case .members(let start, let path): self.path(.path(from: start, path))
        case .elements(let whole, _): text(whole, .primary)
        }
    }

    /// Returns the entity of the members of a collection; nil for values.
    private func entity(of source: CollectionSource) -> Entity? {
        if case .members(_, let path) = source, case .relationship(let relationship)? = path.last {
            relationship.destination
        } else {
            nil
        }
    }

    /// Writes with a variable bound to the members of a collection.
    private mutating func inside<R>(
        _ source: CollectionSource,
        _ variable: Int,
        as name: String,
        standsForAll: Bool = false,
        _ body: (inout PredicateFormatWriter) -> R
    ) -> R {
        let outer = variables
        variables =
            variables.prefix(variable) + [Variable(name: name, entity: entity(of: source), standsForAll: standsForAll)]
        defer { variables = outer }
        return body(&self)
    }

    private mutating func subquery(
        _ source: CollectionSource,
        _ variable: Int,
        _ condition: QueryExpression
    ) -> String {
        let name = "$x\(variable)"
        let text = inside(source, variable, as: name) { $0.condition(condition) }
        return "SUBQUERY(\(collection(source)), \(name), \(text))"
    }

    /// Returns ANY or ALL before a comparison of a member, or a count of the members for which the condition holds.
    mutating func quantified(
        _ quantifier: QueryExpression.Quantifier,
        _ source: CollectionSource,
        _ variable: Int,
        _ condition: QueryExpression
    ) -> (String, FormatParser.Precedence) {
        if let comparison = qualified(quantifier, source, variable, condition) {
            return ("\(quantifier == .any ? "ANY" : "ALL") \(comparison)", .not)
        }
        switch quantifier {
        case .any: return ("\(subquery(source, variable, condition)).@count > 0", .comparison)
        case .all:
            return ("NOT \(subquery(source, variable, .negation(condition))).@count > 0", .not)
        }
    }

    /// Returns a comparison of a member of the collection, or of nested collections; nil for other conditions.
    private mutating func qualified(
        _ quantifier: QueryExpression.Quantifier,
        _ source: CollectionSource,
        _ variable: Int,
        _ condition: QueryExpression
    ) -> String? {
        let name = collection(source)
        return inside(source, variable, as: name, standsForAll: true) { writer in
            if case .quantified(quantifier, let next, let inner, let condition) = condition,
                case .members(variable, _) = next
            {
                return writer.qualified(quantifier, next, inner, condition)
            }
            return condition.comparesOnly(variable) ? writer.text(condition, .comparison) : nil
        }
    }

    // MARK: Aggregates

    /// Returns the text of an aggregate of the members of a collection, or of their values.
    mutating func aggregated(
        _ aggregate: QueryExpression.Aggregate,
        _ source: CollectionSource,
        _ variable: Int,
        _ value: QueryExpression,
        _ condition: QueryExpression
    ) -> String {
        var text = condition == .bool(true) ? collection(source) : subquery(source, variable, condition)
        var (aggregate, variable, value) = (aggregate, variable, value)
        // The operator applies to all nested collections.
        while case .aggregated(
            let inner,
            .members(variable, let path),
            let innerVariable,
            let innerValue,
            .bool(true)
        ) =
            value,
            inner == aggregate || inner == .count && aggregate == .sum
        {
            text = self.path(path, after: text, from: nil)
            (aggregate, value, variable) = (inner, innerValue, innerVariable)
        }
        text += ".@\(aggregate.collectionOperator)"
        if case .path(_, let path) = value, aggregate != .count { text = self.path(path, after: text, from: nil) }
        return aggregate == .distinctCount ? text + ".@count" : text
    }

    /// Returns the text of a sum that is 0 for no members; nil for other expressions.
    mutating func sumOrZero(_ parts: [QueryExpression]) -> String? {
        guard parts.count == 2, case .aggregated(.sum, let source, let variable, let value, let condition) = parts[0],
            parts[1] == .literal(.zero(of: parts[0].resultType))
        else { return nil }
        return aggregated(.sum, source, variable, value, condition)
    }
}

extension Entity {
    /// Returns the entity to cast to if several descendants have a property of this name; nil if no cast is needed.
    fileprivate func owner(ofAmbiguous property: Property) -> Entity? {
        if propertiesByName[property.name] != nil { return nil }
        let properties = Set(family.compactMap { $0.propertiesByName[property.name] })
        return properties.count > 1 ? family.first { $0.propertiesByName[property.name] == property } : nil
    }
}
