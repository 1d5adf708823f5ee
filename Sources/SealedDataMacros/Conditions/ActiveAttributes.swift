import SwiftIfConfig
import SwiftSyntax

/// The attributes of a declaration that the build compiles.
struct ActiveAttributes {
    private(set) var elements: [AttributeSyntax] = []

    /// The `#if` blocks whose active clause is unknown: see ``ActiveClause/undecided``. ``ModelValidation`` refuses the
    /// attributes of this package in them.
    private(set) var undecidedConditions: [IfConfigDeclSyntax] = []

    init(of list: AttributeListSyntax, in configuration: (any BuildConfiguration)?) {
        add(list, configuration)
    }

    private mutating func add(_ list: AttributeListSyntax, _ configuration: (any BuildConfiguration)?) {
        for element in list {
            switch element {
            case .attribute(let attribute): elements.append(attribute)
            case .ifConfigDecl(let condition):
                switch ActiveClause(of: condition, in: configuration) {
                case .undecided: undecidedConditions.append(condition)
                case .known(.attributes(let active)): add(active, configuration)
                case .known: break
                }
            }
        }
    }

    /// Returns the first attribute with a name, written with or without its module.
    func first(named name: String) -> AttributeSyntax? {
        elements.first { $0.isNamed(name) }
    }
}

extension AttributeSyntax {
    /// Whether the attribute has a name, written with or without its module.
    func isNamed(_ name: String) -> Bool {
        let written = attributeName.trimmedDescription
        return written == name || written == "SealedData.\(name)"
    }
}

extension AttributeListSyntax {
    /// The attributes of the list and of every branch of its `#if` blocks.
    var flattened: [AttributeSyntax] {
        flatMap { element in
            switch element {
            case .attribute(let attribute): [attribute]
            case .ifConfigDecl(let condition): condition.attributes
            }
        }
    }
}

extension IfConfigDeclSyntax {
    /// The attributes of every branch.
    var attributes: [AttributeSyntax] {
        clauses.flatMap { clause -> [AttributeSyntax] in
            guard case .attributes(let list) = clause.elements else { return [] }
            return list.flattened
        }
    }
}
