import SwiftSyntax
import SwiftSyntaxBuilder

/// What `@Model` adds for the sake of inheritance.
///
/// The object's state is the topmost class's, which has slots for its own properties only when it makes a new object. A
/// subclass keeps the first values of the properties that it adds until the object is used: see `AddedValues`.
extension ModelMembers {
    /// The members of a class that inherits from a model class.
    var membersOfSubclass: [DeclSyntax] {
        var members = [added, superclass, firstSlot, slotCountOfSubclass, stateClass]
        members.append(schemaMetadata(beginning: "override \(overridableAccess)class "))
        if !model.isFinal { members.append(keyPaths) }
        members.append(completionOfSubclass)
        // Without a designated initializer the class inherits those of its superclass, this one among them.
        if model.hasDesignatedInitializer { members.append(materializingInitializerOfSubclass) }
        return members
    }

    /// The values that initializers of the class give to its properties. A class that inherits its initializers cannot pass
    /// the state of an object on to the superclass any later.
    private var added: DeclSyntax {
        let values = initialValues
        let superclass = model.hasDesignatedInitializer ? "" : ", superclass: \(model.name)._$superclass"
        let parameter = values.isEmpty ? "_" : "(_$state: inout SealedData._AddedValues)"
        return """
            private var _$initial = SealedData._AddedValues(\(raw: model.name).self\(raw: superclass)) {
                \(raw: parameter) in
                \(raw: values.joined(separator: "\n"))
            }
            """
    }

    private var superclass: DeclSyntax {
        "private static var _$superclass: AnyClass { super._$stateClass }"
    }

    private var firstSlot: DeclSyntax {
        "private static var _$firstSlot: Int { super._$slotCount }"
    }

    private var slotCountOfSubclass: DeclSyntax {
        """
        \(raw: inlinable)override \(raw: overridableAccess)class var _$slotCount: Int {
            super._$slotCount + \(raw: model.properties.count)
        }
        """
    }

    /// The class whose initializer makes the state of an object, or adds to it.
    var stateClass: DeclSyntax {
        "\(raw: override)\(raw: overridableAccess)class var _$stateClass: AnyClass { \(raw: model.name).self }"
    }

    /// The properties of the class, as they are found in one that inherits from it.
    var keyPaths: DeclSyntax {
        let keyPaths = model.properties.map { "\\M.\($0.nameInCode)" }.joined(separator: ", ")
        let name = model.name
        return """
            \(raw: deprecation)\(raw: override)\(raw: overridableAccess)class func _$keyPaths(
                from type: any SealedData.PersistentModel.Type
            ) -> [AnyKeyPath] {
                func keyPaths<M: \(raw: name)>(_: M.Type) -> [AnyKeyPath] { [\(raw: keyPaths)] }
                return (type as? any (\(raw: name) & SealedData.PersistentModel).Type).map { keyPaths($0) } ?? []
            }
            """
    }

    private var completionOfSubclass: DeclSyntax {
        let statements = ["super._$completeState()", "_$state.take(&_$initial)"] + constants
        return """
            override \(raw: overridableAccess)func _$completeState() {
                \(raw: statements.joined(separator: "\n"))
            }
            """
    }

    private var materializingInitializerOfSubclass: DeclSyntax {
        let statements =
            materializedValues + ["super.init(_materializing: _materializing.passed(to: \(model.name)._$superclass))"]
        return """
            required \(raw: access)init(_materializing: SealedData._Materialization) {
                \(raw: statements.joined(separator: "\n"))
            }
            """
    }

    private var override: String { isSubclass ? "override " : "" }
}
