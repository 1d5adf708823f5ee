import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@Model` adds for inheritance.
///
/// The topmost class owns the object's state, which in a new object only has slots for the properties of that class. A
/// subclass stores the initial values of the properties that it adds in the object until the object is used: see
/// `AddedValues`.
extension ModelMembers {
    /// The members of a class that inherits from a model class.
    var membersOfSubclass: [DeclSyntax] {
        var members = [added, superclass, firstSlot, slotCountOfSubclass, stateClass]
        members += schemaMetadata(beginning: "nonisolated override \(overridableAccess)class ")
        if !model.isFinal { members += keyPaths }
        members.append(completionOfSubclass)
        // Without a designated initializer the class inherits the initializers of its superclass, including this one.
        if model.hasDesignatedInitializer { members.append(materializingInitializerOfSubclass) }
        return members
    }

    /// The values that initializers of the class assign to its properties. A class that inherits its initializers
    /// cannot pass an object's state to the superclass later.
    private var added: DeclSyntax {
        let values = initialValues
        let superclass = model.hasDesignatedInitializer ? "" : ", superclass: \(superclassExpression)"
        let parameter = values.isEmpty ? "_" : "(_$state: inout SealedData._AddedValues)"
        return """
            @safe nonisolated(unsafe) private var \(raw: names.initial) = SealedData._AddedValues(\(raw: model.name).self\(raw: superclass)) {
                \(raw: parameter) in
                \(raw: values.joined(separator: "\n"))
            }
            """
    }

    private var superclass: DeclSyntax {
        "nonisolated private static var \(raw: names.superclass): Swift.AnyClass { super._$stateClass }"
    }

    private var superclassExpression: String { "\(model.name).\(names.superclass)" }

    private var firstSlot: DeclSyntax {
        "nonisolated private static var \(raw: names.firstSlot): Swift.Int { super._$slotCount }"
    }

    private var slotCountOfSubclass: DeclSyntax {
        """
        \(raw: inlinable)nonisolated override \(raw: overridableAccess)class var _$slotCount: Swift.Int {
            super._$slotCount + \(raw: model.properties.count)
        }
        """
    }

    /// The class whose initializer creates the state of an object, or adds to it.
    var stateClass: DeclSyntax {
        "nonisolated \(raw: override)\(raw: overridableAccess)class var _$stateClass: Swift.AnyClass { \(raw: model.name).self }"
    }

    /// The key paths of the class's properties, with a class that inherits from it as their root: the requirement of the
    /// protocol, and the isolated function that it calls, if it needs one. Swift checks at run time that an isolated
    /// function is on its actor where another function takes it as an argument without its isolation.
    ///
    /// `_openExistential` binds the parameter to the class itself. In the Swift 5 mode a plain call converts the
    /// argument to the superclass that the existential type names, which then is the root of the key paths.
    var keyPaths: [DeclSyntax] {
        let keyPaths = model.properties.map { "\\_$Model.\($0.nameInCode)" }.joined(separator: ", ")
        let name = model.name
        let requirement = "\(deprecation)nonisolated \(override)\(overridableAccess)class func _$keyPaths"
        let members: [DeclSyntax] = [
            """
            \(raw: requirement)(
                from _$type: any SealedData.PersistentModel.Type
            ) -> [Swift.AnyKeyPath] {
                func _$own<_$Model: \(raw: name)>(_ _$model: _$Model.Type) -> [Swift.AnyKeyPath] {
                    \(raw: model.formsKeyPathsInIsolation ? "SealedData._unisolated(\(names.ownKeyPaths), _$model)" : "[\(keyPaths)]")
                }
                return (_$type as? any (\(raw: name) & SealedData.PersistentModel).Type).map {
                    Swift._openExistential($0, do: _$own)
                } ?? []
            }
            """
        ]
        guard model.formsKeyPathsInIsolation else { return members }
        let own: DeclSyntax = """
            \(raw: deprecation)\(raw: model.isolation)private static func \(raw: names.ownKeyPaths)<_$Model: \(raw: name)>(
                _: _$Model.Type
            ) -> [Swift.AnyKeyPath] {
                [\(raw: keyPaths)]
            }
            """
        return [own] + members
    }

    private var completionOfSubclass: DeclSyntax {
        let statements = ["super._$completeState()", "_$state.take(&\(names.initial))"] + constants
        return """
            nonisolated override \(raw: overridableAccess)func _$completeState() {
                \(raw: statements.joined(separator: "\n"))
            }
            """
    }

    private var materializingInitializerOfSubclass: DeclSyntax {
        let statements =
            materializedValues + ["super.init(_materializing: _materializing.passed(to: \(superclassExpression)))"]
        return """
            nonisolated required \(raw: access)init(_materializing: SealedData._Materialization) {
                \(raw: statements.joined(separator: "\n"))
            }
            """
    }

    private var override: String { isSubclass ? "override " : "" }
}
