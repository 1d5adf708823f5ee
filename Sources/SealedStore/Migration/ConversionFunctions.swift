import EncryptedSQLite
import ObjectGraph

/// The functions by which migration statements convert values, see ``AttributeConversion``.
enum ConversionFunctions {
    static let all = [
        function(AttributeConversion.functionName) { call, converted in call.set(converted) },
        function(AttributeConversion.signFunctionName) { call, converted in
            guard case .real(let real) = converted else { return call.set(0 as Int64) }
            call.set((real.bitPattern == (-0.0).bitPattern ? 1 : 0) as Int64)
        },
    ]

    /// The conversion that a function call in a statement needs, looked up once for each statement.
    private final class Kept {
        let conversion: AttributeConversion?

        init(_ from: String, _ to: String) {
            if let from = AttributeType(rawValue: from), let to = AttributeType(rawValue: to) {
                conversion = AttributeConversion(from: from, to: to)
            } else {
                conversion = nil
            }
        }
    }

    private static func function(
        _ name: String,
        _ finish: @escaping @Sendable (borrowing FunctionCall, Value) -> Void
    ) -> ScalarFunction {
        ScalarFunction(name, argumentCount: 3) { call in
            guard call.type(at: 0) != .null else { return }
            let kept = call.made(of: 1) { Kept(call.text(at: 1), call.text(at: 2)) }
            guard let converted = kept.conversion?.convert(call.value(at: 0)) else { return }
            finish(call, converted)
        }
    }
}

extension FunctionCall {
    fileprivate func text(at index: Int) -> String { withText(at: index) { String(decoding: $0, as: UTF8.self) } }
}
