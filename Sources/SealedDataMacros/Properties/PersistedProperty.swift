import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// One stored property that `@Model` moves into the object's row: a declaration with one binding and a plain name.
struct PersistedProperty {
    let declaration: VariableDeclSyntax
    let binding: PatternBindingSyntax

    /// The attributes that the build compiles.
    let attributes: ActiveAttributes

    /// The name in code, with backticks if it has them.
    let nameInCode: String

    /// The name in the schema.
    let name: String

    /// Nil unless the declaration has one binding with one name.
    init?(_ declaration: VariableDeclSyntax, in configuration: (any BuildConfiguration)?) {
        guard declaration.bindings.count == 1, let binding = declaration.bindings.first,
            let token = binding.nameToken
        else { return nil }
        self.declaration = declaration
        self.binding = binding
        attributes = declaration.activeAttributes(in: configuration)
        nameInCode = token.trimmed.text
        name = token.unescapedText
    }

    /// Returns the property that an accessor or peer macro is attached to; nil if it is not a property with a plain
    /// name.
    init?(_ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext) {
        guard let variable = declaration.as(VariableDeclSyntax.self) else { return nil }
        self.init(variable, in: context.buildConfiguration)
    }

    var isLet: Bool { declaration.isLet }

    var hasObservers: Bool { binding.accessorBlock != nil }

    /// The written type, with `T!` replaced by `T?`, its meaning outside a declaration.
    var type: String? {
        guard let type = binding.typeAnnotation?.type else { return nil }
        if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            return "\(unwrapped.wrappedType.trimmedDescription)?"
        }
        return type.trimmedDescription
    }

    /// Whether the type is written `[T]`, `[T]?` or `[T]!`.
    var isWrittenArray: Bool {
        guard let type = binding.typeAnnotation?.type else { return false }
        let wrapped =
            type.as(OptionalTypeSyntax.self)?.wrappedType
            ?? type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType
        return (wrapped ?? type).is(ArrayTypeSyntax.self)
    }

    /// Whether an initializer of the class must assign the property: it has no initial value and is not a variable that
    /// starts as nil.
    var mustBeInitialized: Bool {
        binding.initializer == nil && (isLet || !binding.isWrittenOptional)
    }

    /// The type annotation and the initial value, as source after a name in a declaration; nil if there is no value.
    var initialValue: String? {
        binding.initializer.map { "\(type.map { ": \($0)" } ?? "") = \($0.value.trimmed)" }
    }

    /// The initial value as an expression of the property's type, valid as an argument; nil if the declaration has
    /// none.
    ///
    /// Comments around the expression are dropped: a trailing line comment would comment out the closing parenthesis.
    var initialValueAsArgument: String? {
        guard let value = binding.initializer?.value.trimmed, let initialValue else { return nil }
        // `if` and `switch` are expressions only on the right-hand side of an assignment or in a `return`.
        if value.is(IfExprSyntax.self) || value.is(SwitchExprSyntax.self) {
            return "{ let _$initialValue\(initialValue); return _$initialValue }()"
        }
        guard let type else { return value.description }
        return "(\(value)) as \(type)"
    }

    /// The last argument of the calls that read and write the property, with its comma: the value transformer that
    /// `@Attribute` names; empty if it names none.
    var transformerArgument: String {
        attributes.valueTransformer.map { ", by: SealedData._AttributeTransformer(\($0))" } ?? ""
    }

    /// The name of the zero-sized stored property through which the compiler checks initialization.
    var initializationMarker: String { prefixed("_$p_") }

    /// The name of a generated property that belongs to this one.
    func prefixed(_ prefix: String) -> String { name.prefixed(prefix) }
}
