import ObjectGraph

/// The placeholder for a model of a class that a container does not have. It is written like the expansion of
/// ``Model()``.
final class UnknownModel: PersistentModel {
    var _$state = ObjectState(UnknownModel.self)

    static var schemaMetadata: [Schema.PropertyMetadata] { [] }
    static var _$slotCount: Int { 0 }

    static func _$applyDefaults(to state: inout ObjectState) {}

    init(_materializing: Materialization) {}
}
