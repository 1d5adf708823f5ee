extension PredicateFormatWriter {
    // MARK: Paths

    /// A path of properties, or the object that a variable stands for.
    func path(_ expression: QueryExpression) -> String {
        switch expression {
        case .variable(let number), .element(let number, .composite): variable(number).name
        case .element(let number, let type):
            variable(number).standsForAll ? variable(number).name : Self.cast(variable(number).name, to: type)
        case .component(let keys, .path(let start, let path), let type):
            Self.cast(self.path(.path(from: start, path)) + Self.text(of: keys), to: type)
        // The properties of the object that the predicate is about need nothing before them.
        case .path(let start, let path):
            self.path(path, after: start == 0 ? "" : variable(start).name, from: variable(start).entity)
        default: ""
        }
    }

    /// Names that lead into a composite value.
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

    /// Properties behind what was written so far. One that only entities have which inherit from the known one is reached
    /// by a cast where several have its name.
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

    /// A name as it is written behind a dot.
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

    /// A name as it is written where a reserved word would be taken for one.
    private static func reserving(_ name: String) -> String { FormatKeyword(text: name) == nil ? name : "#\(name)" }

    // MARK: Collections

    /// The collection that a source stands for.
    private mutating func collection(_ source: CollectionSource) -> String {
        switch source {
        case .members(let start, let path): self.path(.path(from: start, path))
        case .elements(let whole, _): text(whole, .primary)
        }
    }

    /// The entity of the elements of a source; nil for values.
    private func entity(of source: CollectionSource) -> Entity? {
        if case .members(_, let path) = source, case .relationship(let relationship)? = path.last {
            relationship.destination
        } else {
            nil
        }
    }

    /// Writes what stands inside a collection, where a variable stands for its elements.
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

    /// ANY or ALL before a comparison of a member with something else, or else a count of the members that fulfil the
    /// condition.
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

    /// A comparison of a member of the collection, or of collections in it, with something else; nil for other conditions.
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

    /// An aggregate of the members of a collection, or of values of them.
    mutating func aggregated(
        _ aggregate: QueryExpression.Aggregate,
        _ source: CollectionSource,
        _ variable: Int,
        _ value: QueryExpression,
        _ condition: QueryExpression
    ) -> String {
        var text = condition == .bool(true) ? collection(source) : subquery(source, variable, condition)
        var (aggregate, variable, value) = (aggregate, variable, value)
        // Collections in the collection: the operator goes over all of them.
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
        text += ".@\(Self.name(of: aggregate))"
        if case .path(_, let path) = value, aggregate != .count { text = self.path(path, after: text, from: nil) }
        return aggregate == .distinctCount ? text + ".@count" : text
    }

    /// A sum, which is 0 for no members; nil for what is none.
    mutating func sumOrZero(_ parts: [QueryExpression]) -> String? {
        guard parts.count == 2, case .aggregated(.sum, let source, let variable, let value, let condition) = parts[0],
            parts[1] == .literal(.zero(of: parts[0].resultType))
        else { return nil }
        return aggregated(.sum, source, variable, value, condition)
    }
}

extension Entity {
    /// The entity to cast to before a property can be reached, where it is one of several of its name; nil where it is not.
    fileprivate func owner(ofAmbiguous property: Property) -> Entity? {
        if propertiesByName[property.name] != nil { return nil }
        let properties = Set(family.compactMap { $0.propertiesByName[property.name] })
        return properties.count > 1 ? family.first { $0.propertiesByName[property.name] == property } : nil
    }
}
