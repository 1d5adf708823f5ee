extension QueryExpression {
    /// The expressions that this one is directly made of.
    package var operands: [QueryExpression] {
        switch self {
        case .literal, .variable, .element, .path, .isKind: []
        case .comparison(_, let left, let right), .arithmetic(_, let left, let right): [left, right]
        case .and(let parts), .or(let parts), .coalesce(let parts), .function(_, let parts): parts
        case .not(let part), .isMember(let part, _), .aggregate(_, let part), .component(_, let part, _): [part]
        case .conditional(let test, let first, let second): [test, first, second]
        case .quantified(_, let source, _, let condition): source.operands + [condition]
        case .aggregated(_, let source, _, let value, let condition): source.operands + [value, condition]
        }
    }

    /// Calls `body` with each relationship that is looked at.
    func forEachRelationship(_ body: (Relationship) -> Void) {
        switch self {
        case .path(_, let path), .quantified(_, .members(_, let path), _, _),
            .aggregated(_, .members(_, let path), _, _, _):
            for case .relationship(let relationship) in path { body(relationship) }
        default: break
        }
        for operand in operands { operand.forEachRelationship(body) }
    }

    /// Whether the value depends on a group of objects.
    var containsAggregate: Bool {
        if case .aggregate = self { true } else { operands.contains(where: \.containsAggregate) }
    }

    /// Whether the value depends on no object.
    package var isConstant: Bool {
        switch self {
        case .literal: true
        case .variable, .element, .path, .isKind, .quantified, .aggregated, .aggregate: false
        default: operands.allSatisfy(\.isConstant)
        }
    }

    /// Whether computing the value may fail, so that it must not be computed where Swift would not.
    package var mayFail: Bool {
        switch self {
        case .arithmetic(_, let left, let right):
            Self.numberKind(of: left, right) != .double || left.mayFail || right.mayFail
        case .function(let function, let arguments):
            function.mayFail || arguments.contains(where: \.mayFail)
        case .aggregated(.sum, _, _, _, _), .aggregated(.average, _, _, _, _): true
        default: operands.contains(where: \.mayFail)
        }
    }
}

extension CollectionSource {
    /// The expressions that the source is made of.
    var operands: [QueryExpression] {
        switch self {
        case .members: []
        case .elements(let value, _): [value]
        }
    }
}
