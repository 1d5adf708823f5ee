import CSQLCipher

/// A scalar function, implemented in Swift, that statements can call. Its value depends on its arguments only.
package struct ScalarFunction: Sendable {
    /// The name of the function in statements.
    let name: String
    /// The number of arguments; nil for any number.
    let argumentCount: Int?
    /// Computes the value of a call. The value is NULL unless the closure sets it.
    let body: @Sendable (borrowing FunctionCall) throws -> Void

    /// Creates a function.
    ///
    /// - Parameter body: Sets the result of the given call. If it throws an ``IntegerOverflow``, a ``MalformedPattern``
    ///   or an ``ExpensivePattern``, the statement throws the corresponding error; any other error becomes a general
    ///   one.
    package init(
        _ name: String,
        argumentCount: Int?,
        body: @escaping @Sendable (borrowing FunctionCall) throws -> Void
    ) {
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }
}

/// A value is too large for its type, or a divisor is zero. The statement throws `integerOverflow`.
package struct IntegerOverflow: Error {
    package init() {}
}

/// A pattern is not valid. The statement throws `malformedPattern`.
package struct MalformedPattern: Error {
    package init() {}
}

/// Matching a pattern takes too long. The statement throws `expensivePattern`.
package struct ExpensivePattern: Error {
    package init() {}
}

/// A call of a function: its arguments and its result.
package struct FunctionCall: ~Copyable {
    private let context: OpaquePointer
    private let arguments: UnsafeBufferPointer<OpaquePointer?>

    fileprivate init(_ context: OpaquePointer, _ arguments: UnsafeBufferPointer<OpaquePointer?>) {
        self.context = context
        self.arguments = arguments
    }

    // MARK: Arguments

    /// The number of arguments.
    package var count: Int { arguments.count }

    /// The type of an argument.
    package func type(at index: Int) -> ColumnType {
        ColumnType(rawValue: sqlite3_value_type(arguments[index])) ?? .null
    }

    /// An argument as an integer.
    package func integer(at index: Int) -> Int64 { sqlite3_value_int64(arguments[index]) }

    /// An argument as a floating-point number.
    package func real(at index: Int) -> Double { sqlite3_value_double(arguments[index]) }

    /// Calls `body` with the UTF-8 of a text. It is valid until the call of `body` returns.
    package func withText<R>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        // SQLite counts the bytes in the encoding that was requested last.
        let bytes = sqlite3_value_text(arguments[index])
        return try body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(arguments[index]))))
    }

    /// Calls `body` with the bytes of a blob.
    package func withBlob<R>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let bytes = sqlite3_value_blob(arguments[index])
        return try body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(arguments[index]))))
    }

    /// A value that `make` creates from an argument. It is created once for an argument that is the same for all rows.
    package func made<Made: AnyObject>(of index: Int, _ make: () throws -> Made) rethrows -> Made {
        if let known = sqlite3_get_auxdata(context, Int32(index)),
            let made = Unmanaged<AnyObject>.fromOpaque(known).takeUnretainedValue() as? Made
        {
            return made
        }
        let made = try make()
        sqlite3_set_auxdata(context, Int32(index), Unmanaged<AnyObject>.passRetained(made).toOpaque()) { made in
            guard let made else { return }
            Unmanaged<AnyObject>.fromOpaque(made).release()
        }
        return made
    }

    // MARK: Result

    /// Sets the result to an integer.
    package func set(_ integer: Int64) { sqlite3_result_int64(context, integer) }

    /// Sets the result to a floating-point number; NaN becomes NULL.
    package func set(_ real: Double) { sqlite3_result_double(context, real) }

    /// Sets the result to a text.
    package func set(text: String) {
        var text = text
        text.withUTF8 { csqlcipher_result_text_copying(context, $0.baseAddress, UInt64($0.count)) }
    }

    /// Sets the result to a blob.
    package func set(blob: UnsafeRawBufferPointer) {
        csqlcipher_result_blob_copying(context, blob.baseAddress, UInt64(blob.count))
    }

    fileprivate func fail(_ error: any Error) { reportFunctionError(error, context) }
}

/// The extended result codes of statements that call a function which throws. SQLite assigns none beyond its documented
/// ones, which are small.
enum FunctionFailure: Int32 {
    case integerOverflow = 0x5E01
    case malformedPattern = 0x5E02
    case expensivePattern = 0x5E03
    case other = 0x5E04

    init(_ error: any Error) {
        self =
            switch error {
            case is IntegerOverflow: .integerOverflow
            case is MalformedPattern: .malformedPattern
            case is ExpensivePattern: .expensivePattern
            default: .other
            }
    }

    /// The failure that a result code stands for.
    init?(resultCode: Int32) {
        guard resultCode & 0xff == SQLITE_ERROR else { return nil }
        self.init(rawValue: resultCode >> 8)
    }

    var resultCode: Int32 { SQLITE_ERROR | rawValue << 8 }
}

/// Fails the statement that calls a function.
func reportFunctionError(_ error: any Error, _ context: OpaquePointer) {
    // The pager's own errors have SQLite's general message.
    sqlite3_result_error(context, "a function failed", -1)
    sqlite3_result_error_code(context, FunctionFailure(error).resultCode)
}

extension Connection {
    /// Registers a function for the statements of this connection. Triggers, views and indexes in the file cannot call
    /// it: another program may have created them.
    func install(_ function: ScalarFunction) throws(DatabaseError) {
        let code = sqlite3_create_function_v2(
            handle,
            function.name,
            Int32(function.argumentCount ?? -1),
            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
            Unmanaged.passRetained(Body(function.body)).toOpaque(),
            { context, count, arguments in
                guard let context, let data = sqlite3_user_data(context) else { return }
                let call = FunctionCall(context, UnsafeBufferPointer(start: arguments, count: Int(count)))
                // The connection keeps the function while a statement runs.
                Unmanaged<Body>.fromOpaque(data)._withUnsafeGuaranteedRef { function in
                    do {
                        try function.body(call)
                    } catch {
                        call.fail(error)
                    }
                }
            },
            nil,
            nil,
            { body in
                guard let body else { return }
                Unmanaged<Body>.fromOpaque(body).release()
            }
        )
        guard code == SQLITE_OK else { throw failure(code, during: .execution) }
    }
}

/// The box that SQLite holds a pointer to for each function.
private final class Body {
    let body: @Sendable (borrowing FunctionCall) throws -> Void

    init(_ body: @escaping @Sendable (borrowing FunctionCall) throws -> Void) {
        self.body = body
    }
}
