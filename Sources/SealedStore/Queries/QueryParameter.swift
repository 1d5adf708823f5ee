import ObjectGraph

/// A parameter of a statement.
enum QueryParameter: Hashable, Sendable {
    case value(Value)
    /// The constant of a request with a number; a text in normalization form C if its bytes are compared.
    case constant(Int, isComposed: Bool)

    static func text(_ text: String) -> QueryParameter { .value(.text(text)) }
    static func integer(_ integer: Int64) -> QueryParameter { .value(.integer(integer)) }
    static func real(_ real: Double) -> QueryParameter { .value(.real(real)) }

    /// The value in a request with constants.
    func value(in constants: [Value]) -> Value {
        switch self {
        case .value(let value): value
        case .constant(let number, let isComposed): isComposed ? constants[number].composed : constants[number]
        }
    }
}

extension [QueryParameter] {
    static func += (parameters: inout [QueryParameter], values: [Value]) {
        parameters.append(contentsOf: values.map(QueryParameter.value))
    }
}
