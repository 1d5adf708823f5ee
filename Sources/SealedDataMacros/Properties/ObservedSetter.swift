import SwiftSyntax
import SwiftSyntaxBuilder

/// The setter of a persisted property, which runs the property's `willSet` and `didSet` with Swift's semantics.
///
/// The bodies become local functions, so that a `return` ends only the observer. Inside an observer Swift reads and
/// writes the observed property without observing it again. A local variable with the property's name replaces it
/// there, and `self.name` is rewritten to the variable.
struct ObservedSetter {
    let property: PersistedProperty
    let slot: String

    /// The arguments of the calls that read and write the slot.
    private var place: String { slot + property.transformerArgument }

    var accessor: AccessorDeclSyntax {
        let willSet = property.binding.observer(.willSet)
        let didSet = property.binding.observer(.didSet)
        if willSet == nil && didSet == nil {
            return "set { _$setValue(newValue, at: \(raw: place)) }"
        }
        var lines: [String] = []
        if let willSet {
            lines += observer(willSet, function: "_$willSet", implicitParameter: "newValue", value: "newValue")
            lines.append("_$willSet()")
        }
        if let didSet {
            let fetchesOldValue = didSet.mentions(didSet.parameters?.name.text ?? "oldValue")
            if fetchesOldValue { lines.append("let _$oldValue = self.\(property.nameInCode)") }
            lines.append("_$setValue(newValue, at: \(place))")
            lines += observer(didSet, function: "_$didSet", implicitParameter: "oldValue", value: "_$oldValue")
            lines.append("_$didSet()")
        } else {
            lines.append("_$setValue(newValue, at: \(place))")
        }
        return """
            set {
                \(raw: lines.joined(separator: "\n"))
            }
            """
    }

    /// Returns a local function with the observer's body. The observer's parameter is a constant in it if the body uses
    /// it.
    private func observer(
        _ observer: AccessorDeclSyntax,
        function: String,
        implicitParameter: String,
        value: String
    ) -> [String] {
        guard let body = observer.body else { return ["func \(function)() {}"] }
        let parameter = observer.parameters?.name.text ?? implicitParameter
        let direct = DirectAccessRewriter(property: property.nameInCode)
        let statements = direct.rewrite(body.statements)
        var lines = ["func \(function)() {"]
        if parameter != value && observer.mentions(parameter) { lines.append("let \(parameter) = \(value)") }
        if let type = property.type ?? property.binding.initializer?.value.literalType {
            let name = property.nameInCode
            let names = [
                (DirectAccessRewriter.name, direct.hasRewritten),
                // The observer's parameter shadows a property with the same name.
                (property.nameInCode, parameter != name && observer.mentions(name, asMember: false)),
            ]
            for (name, isUsed) in names where isUsed {
                lines += [
                    "var \(name): \(type) {",
                    "get { _$value(at: \(place)) }",
                    "set { _$setValue(newValue, at: \(place)) }",
                    "}",
                ]
            }
        }
        lines += ["do {", statements.trimmedDescription, "}", "}"]
        return lines
    }
}

extension PersistedProperty {
    /// The observer that cannot be copied, because it mentions its property and the property's type is not written. A
    /// macro sees only the source.
    var observerInNeedOfType: AccessorDeclSyntax? {
        if type != nil || binding.initializer?.value.literalType != nil { return nil }
        let plain = name
        return [binding.observer(.willSet), binding.observer(.didSet)].compactMap(\.self).first {
            $0.mentions(plain)
        }
    }
}

/// Replaces `self.name` by a local variable that does not run the observers again.
private final class DirectAccessRewriter: SyntaxRewriter {
    static let name = "_$observed"

    let property: String
    private(set) var hasRewritten = false

    init(property: String) {
        self.property = property
    }

    func rewrite(_ statements: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        visit(statements)
    }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax {
        guard node.declName.baseName.text == property, node.declName.argumentNames == nil,
            let base = node.base?.as(DeclReferenceExprSyntax.self), base.baseName.tokenKind == .keyword(.self)
        else { return super.visit(node) }
        hasRewritten = true
        let name = DeclReferenceExprSyntax(baseName: .identifier(Self.name))
        return ExprSyntax(name.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia))
    }
}

extension AccessorDeclSyntax {
    /// Whether the body contains the name; with `asMember` false, only unqualified.
    func mentions(_ name: String, asMember: Bool = true) -> Bool {
        guard let body else { return false }
        let plain = name.trimmingBackticks
        return body.tokens(viewMode: .sourceAccurate).contains { token in
            guard token.text.trimmingBackticks == plain else { return false }
            return asMember || token.previousToken(viewMode: .sourceAccurate)?.tokenKind != .period
        }
    }
}

extension String {
    fileprivate var trimmingBackticks: String {
        hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self
    }
}

extension ExprSyntax {
    /// The default type of a literal.
    fileprivate var literalType: String? {
        if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
        if self.is(FloatLiteralExprSyntax.self) { return "Double" }
        if self.is(StringLiteralExprSyntax.self) { return "String" }
        if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
        return nil
    }
}
