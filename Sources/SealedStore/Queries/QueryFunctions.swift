import EncryptedSQLite
import Foundation
import ObjectGraph

/// The SQL functions that compute values as Swift does, if SQLite's own functions have other semantics.
enum QueryFunctions {
    /// All functions and collations that the statements of a store use.
    static let library = FunctionLibrary(
        functions: QueryExpression.Function.allCases.map(function) + calculations
            + [component, elements, real, failure, representation, LargeValueReference.function]
            + ConversionFunctions.all,
        aggregates: DecimalAggregates.all,
        collations: collations
    )

    private static let collations: [Collation] = TextOrder.allCases.map { order in
        Collation(name(of: order)) { left, right in
            if order == .lexical, TextSearch.isSimple(left), TextSearch.isSimple(right) {
                return left.compareBytes(right)
            }
            return order.compare(String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self))
        }
    }

    // MARK: Names

    static func name(of function: QueryExpression.Function) -> String { "query_\(function.rawValue)" }

    static func name(of operation: QueryExpression.Arithmetic, _ kind: QueryExpression.NumberKind) -> String {
        "query_\(operation.rawValue)_\(kind.rawValue)"
    }

    static func name(of order: TextOrder) -> String { "query_\(order.rawValue)" }

    /// A part of a composite value, by the value, the keys in the form of ``ComponentKeys``, and the type of the part.
    static let componentName = "query_component"
    /// The elements of a composite value, as an ``ElementList``.
    static let elementsName = "query_elements"
    /// A floating-point number, by its bits.
    static let realName = "query_real"
    /// Fails with an arithmetic overflow.
    static let failureName = "query_failure"

    /// Whether an attribute can hold a value, by the value and the type; NULL for NULL.
    private static let representationName = "query_representable"

    /// The call of ``representation``.
    static func call(isRepresentable value: String, as type: AttributeType) -> String {
        "\(representationName)(\(value), \(SQL.literal(type.rawValue)))"
    }

    // MARK: Functions

    private static func function(_ function: QueryExpression.Function) -> ScalarFunction {
        let search: (@Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool)? =
            switch function {
            case .contains: TextSearch.contains
            case .startsWith: TextSearch.starts
            case .endsWith: TextSearch.ends
            default: nil
            }
        if function == .localizedContains { return localizedSearch }
        guard let search else {
            return ScalarFunction(name(of: function), argumentCount: nil) { call in
                call.set(try withQueryErrors { try function.apply((0..<call.count).map { call.value(at: $0) }) })
            }
        }
        return ScalarFunction(name(of: function), argumentCount: 2) { call in
            guard call.type(at: 0) == .text, call.type(at: 1) == .text else { return }
            let isFound = call.withText(at: 0) { text in call.withText(at: 1) { search(text, $0) } }
            call.set(isFound ? 1 : 0 as Int64)
        }
    }

    private static let localizedSearch = ScalarFunction(name(of: .localizedContains), argumentCount: 2) { call in
        guard call.type(at: 0) == .text, call.type(at: 1) == .text else { return }
        let search = call.made(of: 1) {
            LocalizedSearch(call.withText(at: 1) { String(decoding: $0, as: UTF8.self) })
        }
        call.set(call.withText(at: 0, search.isFound) ? 1 : 0 as Int64)
    }

    private static let calculations: [ScalarFunction] = QueryExpression.Arithmetic.allCases.flatMap { operation in
        QueryExpression.NumberKind.allCases.map { kind in
            ScalarFunction(name(of: operation, kind), argumentCount: 2) { call in
                call.set(try withQueryErrors { try operation.apply(call.value(at: 0), call.value(at: 1), as: kind) })
            }
        }
    }

    private static let component = ScalarFunction(componentName, argumentCount: 3) { call in
        guard call.type(at: 0) == .text, let type = call.withText(at: 2, AttributeType.init(utf8:)) else { return }
        let keys = call.made(of: 1) {
            ComponentKeys(text: call.withText(at: 1) { String(decoding: $0, as: UTF8.self) })
        }
        call.set(call.withText(at: 0) { JSONText($0).value(at: keys.keys, as: type) })
    }

    private static let elements = ScalarFunction(elementsName, argumentCount: 2) { call in
        guard call.type(at: 0) == .text, let type = call.withText(at: 1, AttributeType.init(utf8:)),
            let elements = call.withText(at: 0, { JSONText($0).elements(as: type) })
        else { return }
        call.set(text: ElementList.text(elements))
    }

    private static let real = ScalarFunction(realName, argumentCount: 1) { call in
        guard call.type(at: 0) == .integer else { return }
        call.set(Double(bitPattern: UInt64(bitPattern: call.integer(at: 0))))
    }

    private static let failure = ScalarFunction(failureName, argumentCount: 1) { _ in throw IntegerOverflow() }

    private static let representation = ScalarFunction(representationName, argumentCount: 2) { call in
        guard call.type(at: 0) != .null, let type = call.withText(at: 1, AttributeType.init(utf8:)) else { return }
        // `value(at:)` repairs a text that is not UTF-8, so its bytes are checked here.
        let isText = call.type(at: 0) == .text
        let isReadable = !isText || call.withText(at: 0) { String(validating: $0, as: UTF8.self) != nil }
        call.set(isReadable && call.value(at: 0).isRepresentable(as: type) ? 1 : 0 as Int64)
    }

    private static func withQueryErrors<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch QueryError.arithmeticOverflow {
            throw IntegerOverflow()
        } catch QueryError.malformedPattern {
            throw MalformedPattern()
        } catch QueryError.expensivePattern {
            throw ExpensivePattern()
        }
    }
}

extension FunctionCall {
    /// An argument of any type.
    func value(at index: Int) -> Value {
        switch type(at: index) {
        case .integer: .integer(integer(at: index))
        case .real: .real(real(at: index))
        case .text: .text(withText(at: index) { String(decoding: $0, as: UTF8.self) })
        case .blob: .blob(withBlob(at: index) { Data($0) })
        case .null: .null
        }
    }

    func set(_ value: Value) {
        switch value {
        case .null: break
        case .integer(let integer): set(integer)
        case .real(let real): set(real)
        case .text(let text): set(text: text)
        case .blob(let data): data.withUnsafeBytes { set(blob: $0) }
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { set(blob: $0) }
        }
    }
}

extension AttributeType {
    fileprivate init?(utf8 bytes: UnsafeRawBufferPointer) {
        self.init(rawValue: String(decoding: bytes, as: UTF8.self))
    }
}
