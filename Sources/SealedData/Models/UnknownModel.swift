import ObjectGraph

/// What stands for a model of a class that a container does not have. It is written as ``Model()`` would write it.
final class UnknownModel: PersistentModel {
    var _$state = ObjectState(UnknownModel.self)

    static var schemaMetadata: [Schema.PropertyMetadata] { [] }
    static var _$slotCount: Int { 0 }

    static func _$applyDefaults(to state: inout ObjectState) {}

    init(_materializing: Materialization) {}
}
