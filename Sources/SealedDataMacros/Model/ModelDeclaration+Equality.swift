import SwiftSyntax
import SwiftSyntaxMacros

extension ModelDeclaration {
    /// Returns whether the class declares `==` for two of its objects.
    func declaresEquality(in context: some MacroExpansionContext) -> Bool {
        members.contains { member in
            guard let function = member.as(FunctionDeclSyntax.self), function.name.text == "==" else { return false }
            let parameters = function.signature.parameterClause.parameters
            return parameters.count == 2 && parameters.allSatisfy { names($0.type, in: context) }
        }
    }

    /// Returns whether a type in the body of the class names the class, with or without the names of the types around it
    /// and of the module. Swift does not accept `Self` as the type of a class's parameter.
    ///
    /// The name of another type may end with the name of the class, as `Legacy.Trip` in a class `Trip`. An `==` for
    /// such a type must not satisfy `Equatable`: the generated witness would call itself.
    private func names(_ type: TypeSyntax, in context: some MacroExpansionContext) -> Bool {
        if let attributed = type.as(AttributedTypeSyntax.self) { return names(attributed.baseType, in: context) }
        guard hasOwnGenericArguments(type), let components = type.nameComponents else { return false }
        return path(in: context).suffix(components.count) == components
    }

    /// Returns whether a type has no generic arguments, or the generic parameters of the class as such.
    private func hasOwnGenericArguments(_ type: TypeSyntax) -> Bool {
        let clause =
            type.as(IdentifierTypeSyntax.self)?.genericArgumentClause
            ?? type.as(MemberTypeSyntax.self)?.genericArgumentClause
        guard let clause else { return true }
        return clause.arguments.map(\.argument.trimmedDescription)
            == declaration.genericParameterClause?.parameters.map(\.name.text)
    }

    /// Returns the names of the module, of the types around the class and of the class.
    private func path(in context: some MacroExpansionContext) -> [String] {
        let types = context.lexicalContext.reversed().flatMap { enclosing -> [String] in
            if let extended = enclosing.as(ExtensionDeclSyntax.self) {
                return extended.extendedType.nameComponents ?? []
            }
            guard enclosing.asProtocol((any DeclGroupSyntax).self) != nil else { return [] }
            return enclosing.asProtocol((any NamedDeclSyntax).self).map { [$0.name.unescapedText] } ?? []
        }
        return [moduleName(in: context)].compactMap(\.self) + types + [declaration.name.unescapedText]
    }

    /// Returns the name of the module, with which the identifier of a file begins.
    private func moduleName(in context: some MacroExpansionContext) -> String? {
        let location = context.location(of: declaration, at: .afterLeadingTrivia, filePathMode: .fileID)
        let file = location?.file.as(StringLiteralExprSyntax.self)?.segments.description
        return file?.split(separator: "/").first.map(String.init)
    }
}

extension TypeSyntax {
    /// The names in a type with or without members, without backticks; nil for another kind of type.
    fileprivate var nameComponents: [String]? {
        if let identifier = self.as(IdentifierTypeSyntax.self) { return [identifier.name.unescapedText] }
        guard let member = self.as(MemberTypeSyntax.self) else { return nil }
        return member.baseType.nameComponents.map { $0 + [member.name.unescapedText] }
    }
}
