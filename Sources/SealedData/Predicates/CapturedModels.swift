public import Foundation
import ObjectGraph

extension PredicateExpressions {
    /// A model, or a collection of models, that a predicate captures.
    ///
    /// The values that predicates capture have to be `Codable`, which models are not. This node takes their place:
    ///
    /// ```swift
    /// #Predicate<Trip> { $0.guide == someone }
    /// ```
    public struct CapturedModel<Output>: StandardPredicateExpression, @unchecked Sendable {
        // Sound because the node does not touch the models' state. The context that the models belong to is the only one
        // whose fetches can use them.
        let value: Output

        init(_ value: Output) {
            self.value = value
        }

        /// The value for the inputs that the bindings name.
        public func evaluate(_ bindings: PredicateBindings) -> Output { value }

        /// Always fails: a model cannot be encoded.
        public init(from decoder: any Decoder) throws {
            throw UnsupportedPredicate("the decoding of a model")
        }

        /// Always fails: a model cannot be encoded.
        public func encode(to encoder: any Encoder) throws {
            throw UnsupportedPredicate("the encoding of a model")
        }
    }

    /// What the macro makes of a captured model.
    public static func build_Arg<Model: PersistentModel>(_ model: Model) -> CapturedModel<Model> {
        CapturedModel(model)
    }

    /// What the macro makes of a captured model that may be nil, or is compared with one that may be.
    public static func build_Arg<Model: PersistentModel>(_ model: Model?) -> CapturedModel<Model?> {
        CapturedModel(model)
    }

    /// What the macro makes of captured models.
    public static func build_Arg<Model: PersistentModel>(_ models: [Model]) -> CapturedModel<[Model]> {
        CapturedModel(models)
    }

    /// What the macro makes of captured models.
    public static func build_Arg<Model: PersistentModel>(_ models: Set<Model>) -> CapturedModel<Set<Model>> {
        CapturedModel(models)
    }
}

extension PredicateExpressions.CapturedModel: ReadableExpression {
    func read(in context: ReadingContext) -> Reading { .constant(Constant(value)) }
}
