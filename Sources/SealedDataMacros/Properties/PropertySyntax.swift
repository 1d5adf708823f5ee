import SwiftIfConfig
import SwiftSyntax

/// Properties of a variable declaration that do not depend on its class.
extension VariableDeclSyntax {
    /// Whether the declaration is a type property.
    var isOfType: Bool {
        hasModifier(.static) || hasModifier(.class)
    }

    var isLet: Bool {
        bindingSpecifier.tokenKind == .keyword(.let)
    }

    /// Whether every binding is stored: it has no accessors, or only observers.
    var isStored: Bool {
        bindings.allSatisfy { $0.isStored }
    }

    /// Whether the property is observable: it is a stored variable of an instance.
    var isTracked: Bool {
        isStored && !isOfType && !isLet && !hasModifier(.lazy) && !hasModifier(.override)
    }

    func hasModifier(_ keyword: Keyword) -> Bool {
        modifiers.contains { $0.name.tokenKind == .keyword(keyword) }
    }

    /// Returns the attributes that the build compiles.
    func activeAttributes(in configuration: (any BuildConfiguration)?) -> ActiveAttributes {
        ActiveAttributes(of: attributes, in: configuration)
    }

    /// Whether the declaration has a name that only generated code uses.
    var isGenerated: Bool {
        bindings.contains { $0.nameToken?.text.hasPrefix("_$") ?? false }
    }
}

extension PatternBindingSyntax {
    /// The name's token, backticks included; nil for a tuple pattern.
    var nameToken: TokenSyntax? {
        pattern.as(IdentifierPatternSyntax.self)?.identifier
    }

    var isStored: Bool {
        switch accessorBlock?.accessors {
        case nil: true
        case .getter: false
        case .accessors(let accessors): accessors.allSatisfy { $0.isObserver }
        }
    }

    /// Whether the type is written `T?` or `T!`: such a variable starts as nil by default.
    var isWrittenOptional: Bool {
        guard let type = typeAnnotation?.type else { return false }
        return type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }

    func observer(_ keyword: Keyword) -> AccessorDeclSyntax? {
        guard case .accessors(let accessors) = accessorBlock?.accessors else { return nil }
        return accessors.first { $0.accessorSpecifier.tokenKind == .keyword(keyword) }
    }
}

extension AccessorDeclSyntax {
    fileprivate var isObserver: Bool {
        accessorSpecifier.tokenKind == .keyword(.willSet) || accessorSpecifier.tokenKind == .keyword(.didSet)
    }
}

/// The options of `@Attribute` that change the expansion of a property.
extension ActiveAttributes {
    /// Whether `@Attribute` gives the property the option `ephemeral`.
    var isEphemeral: Bool {
        guard case .argumentList(let arguments) = first(named: "Attribute")?.arguments else { return false }
        return arguments.contains { argument in
            argument.label == nil
                && argument.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "ephemeral"
        }
    }

    /// The argument of the option `transformable(by:)` in `@Attribute`; nil if the property has no such option.
    var valueTransformer: ExprSyntax? {
        guard case .argumentList(let arguments) = first(named: "Attribute")?.arguments else { return nil }
        for argument in arguments where argument.label == nil {
            guard let option = argument.expression.as(FunctionCallExprSyntax.self),
                option.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "transformable",
                let transformer = option.arguments.first, transformer.label?.text == "by"
            else { continue }
            return transformer.expression.trimmed
        }
        return nil
    }
}

extension TokenSyntax {
    /// The name without backticks.
    var unescapedText: String {
        let text = self.text
        return text.hasPrefix("`") && text.hasSuffix("`") && text.count > 2 ? String(text.dropFirst().dropLast()) : text
    }
}

extension String {
    /// Returns the identifier that consists of a prefix and this name, which has no backticks.
    func prefixed(_ prefix: String) -> String {
        // Raw identifiers such as `two words` need backticks; keywords after a prefix do not.
        let isPlain = unicodeScalars.allSatisfy {
            $0 == "_" || $0.properties.isXIDContinue || !$0.isASCII
        }
        return isPlain ? "\(prefix)\(self)" : "`\(prefix)\(self)`"
    }
}

extension Trivia {
    /// The spaces and tabs after the last line break.
    var indentation: String {
        String(description.reversed().prefix { $0 == " " || $0 == "\t" }.reversed())
    }
}
