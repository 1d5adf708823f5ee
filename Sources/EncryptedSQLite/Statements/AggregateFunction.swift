import CSQLCipher
package import Foundation

/// An aggregate function of blobs, implemented in Swift. An instance computes the value for one group of rows.
///
/// Rows with NULL are skipped. The value depends on the rows only.
package protocol AggregateFunction: AnyObject, SendableMetatype {
    /// The name of the function in statements.
    static var name: String { get }

    /// Creates a function that has seen no rows.
    init()

    /// Adds the blob of a row.
    ///
    /// - Throws: Any error; the statement fails with it.
    func add(_ blob: UnsafeRawBufferPointer) throws

    /// The value for all rows; nil for NULL. Without rows, SQLite uses NULL.
    ///
    /// - Throws: ``IntegerOverflow``, which becomes `integerOverflow`. With any other error the statement fails, too.
    func result() throws -> Data?
}

extension Connection {
    /// Registers a function for the statements of this connection, but not for triggers and views in the file.
    func install(_ function: any AggregateFunction.Type) throws(DatabaseError) {
        let code = sqlite3_create_function_v2(
            handle,
            function.name,
            1,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
            Unmanaged.passRetained(FunctionType(function)).toOpaque(),
            nil,
            { context, _, arguments in
                guard let context, let argument = arguments?[0] else { return }
                AggregateState.of(context)?.step(context, argument)
            },
            { context in
                guard let context else { return }
                AggregateState.end(context)
            },
            { type in
                guard let type else { return }
                Unmanaged<FunctionType>.fromOpaque(type).release()
            }
        )
        guard code == SQLITE_OK else { throw failure(code, during: .execution) }
    }
}

/// The box that SQLite holds a pointer to for each function.
private final class FunctionType {
    let type: any AggregateFunction.Type

    init(_ type: any AggregateFunction.Type) {
        self.type = type
    }
}

/// The box that SQLite holds a pointer to for each group of rows, from the first row until the value is computed.
/// SQLite also calls the end function if the statement is abandoned.
private final class AggregateState {
    private let function: any AggregateFunction
    private var hasFailed = false

    private init(_ function: any AggregateFunction) {
        self.function = function
    }

    private typealias Place = UnsafeMutablePointer<Unmanaged<AggregateState>?>

    /// The state of the current group, created at the first call.
    static func of(_ context: OpaquePointer) -> AggregateState? {
        // SQLite zeroes the memory when it allocates it.
        let size = Int32(MemoryLayout<Unmanaged<AggregateState>?>.size)
        guard let memory = sqlite3_aggregate_context(context, size), let type = sqlite3_user_data(context) else {
            sqlite3_result_error_nomem(context)
            return nil
        }
        let place = memory.assumingMemoryBound(to: Unmanaged<AggregateState>?.self)
        if let state = place.pointee { return state.takeUnretainedValue() }
        let state = AggregateState(Unmanaged<FunctionType>.fromOpaque(type).takeUnretainedValue().type.init())
        place.pointee = Unmanaged.passRetained(state)
        return state
    }

    func step(_ context: OpaquePointer, _ argument: OpaquePointer) {
        guard !hasFailed, sqlite3_value_type(argument) != SQLITE_NULL else { return }
        do {
            let count = Int(sqlite3_value_bytes(argument))
            try function.add(UnsafeRawBufferPointer(start: sqlite3_value_blob(argument), count: count))
        } catch {
            hasFailed = true
            reportFunctionError(error, context)
        }
    }

    /// Sets the value of the group, and releases the state.
    static func end(_ context: OpaquePointer) {
        guard let memory = sqlite3_aggregate_context(context, 0) else { return sqlite3_result_null(context) }
        let place = memory.assumingMemoryBound(to: Unmanaged<AggregateState>?.self)
        guard let state = place.pointee?.takeRetainedValue() else { return sqlite3_result_null(context) }
        place.pointee = nil
        guard !state.hasFailed else { return }
        do {
            guard let result = try state.function.result() else { return sqlite3_result_null(context) }
            result.withUnsafeBytes { csqlcipher_result_blob_copying(context, $0.baseAddress, UInt64($0.count)) }
        } catch {
            reportFunctionError(error, context)
        }
    }
}
