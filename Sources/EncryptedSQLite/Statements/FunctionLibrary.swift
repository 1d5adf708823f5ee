import CSQLCipher
import Foundation

/// The functions and orders of texts, written in Swift, that the statements of a database can use besides SQLite's own.
///
/// To register some fifty functions takes a tenth of the time of opening a file, and few statements use any. Therefore a
/// connection registers them before it compiles the first statement whose text contains the beginning of one of their names.
/// SQLite itself asks for an order of texts that it does not know.
package final class FunctionLibrary: Sendable {
    private let functions: [ScalarFunction]
    private let aggregates: [any AggregateFunction.Type]
    private let collations: [Collation]
    /// The beginnings of the names of all functions, up to and including the first underscore, in UTF-8.
    private let beginnings: [[UInt8]]

    /// Makes a library. Statements write the names as they are given here, also in the case of their letters.
    package init(
        functions: [ScalarFunction],
        aggregates: [any AggregateFunction.Type],
        collations: [Collation]
    ) {
        self.functions = functions
        self.aggregates = aggregates
        self.collations = collations
        let names = functions.map(\.name) + aggregates.map { $0.name }
        beginnings = Set(names.map { $0.prefix(through: $0.firstIndex(of: "_") ?? $0.index(before: $0.endIndex)) })
            .map { Array($0.utf8) }
    }

    /// Whether a statement may use a function.
    ///
    /// - Complexity: O(length of the text), some 100 ns.
    func isNeeded(for statement: UnsafeBufferPointer<UInt8>) -> Bool { beginnings.contains { statement.contains($0) } }

    func registerFunctions(on connection: Connection) throws(DatabaseError) {
        for aggregate in aggregates { try connection.install(aggregate) }
        for function in functions { try connection.install(function) }
    }

    /// Registers an order of texts. Without one of the name, the statement that needs it fails.
    fileprivate func registerCollation(named name: String, on handle: OpaquePointer) {
        collations.first { $0.name == name }?.register(on: handle)
    }
}

extension Connection {
    /// Makes a library known to the statements of this connection.
    func install(_ library: FunctionLibrary) throws(DatabaseError) {
        functionLibrary = library
        let code = sqlite3_collation_needed(handle, Unmanaged.passUnretained(library).toOpaque()) {
            library,
            handle,
            _,
            name in
            guard let library, let handle, let name else { return }
            let instance = Unmanaged<FunctionLibrary>.fromOpaque(library).takeUnretainedValue()
            instance.registerCollation(named: String(cString: name), on: handle)
        }
        guard code == SQLITE_OK else { throw failure(code, during: .execution) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        guard let first = part.first, var start = baseAddress else { return false }
        let end = start + count
        while end - start >= part.count, let found = memchr(start, Int32(first), end - start - part.count + 1) {
            let position = found.assumingMemoryBound(to: UInt8.self)
            if memcmp(position, part, part.count) == 0 { return true }
            start = UnsafePointer(position) + 1
        }
        return false
    }
}
