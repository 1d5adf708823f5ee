import CSQLCipher
import Foundation

/// Decides, while a statement is compiled, whether a connection may run it. Adds no cost to running it.
///
/// The authorizer refuses statements that could write plaintext, reach other files, or change the key or the settings
/// of the connection: ATTACH of a file, every PRAGMA that is not listed here, and functions that reach outside the
/// database.
enum StatementAuthorizer {
    /// Installs the authorizer on a connection. The settings must be complete.
    ///
    /// SQLite keeps an unretained pointer to the connection, and uses it when it compiles statements, which only
    /// happens while the connection exists.
    static func install(on connection: Connection) {
        sqlite3_set_authorizer(
            connection.handle,
            { connection, action, first, second, _, _ in
                switch action {
                case SQLITE_PRAGMA:
                    if let connection, let first, strcmp(first, "temp_store") == 0 {
                        let connection = Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue()
                        if connection.mayMoveTemporaryData { return SQLITE_OK }
                    }
                    return StatementAuthorizer.allowsPragma(first, writes: second != nil) ? SQLITE_OK : SQLITE_DENY
                case SQLITE_ATTACH:
                    // VACUUM attaches a temporary database without a name, which stays in memory.
                    return first.map { $0.pointee == 0 } == true ? SQLITE_OK : SQLITE_DENY
                case SQLITE_FUNCTION:
                    return StatementAuthorizer.allowsFunction(second) ? SQLITE_OK : SQLITE_DENY
                default:
                    return SQLITE_OK
                }
            },
            Unmanaged.passUnretained(connection).toOpaque()
        )
    }

    /// Whether a PRAGMA is harmless, as a query or with an argument.
    private static func allowsPragma(_ name: UnsafePointer<CChar>?, writes: Bool) -> Bool {
        guard let name = name.map({ String(cString: $0).lowercased() }) else { return false }
        return writes
            ? pragmasWithArgument.contains(name) : pragmasWithArgument.contains(name) || questions.contains(name)
    }

    private static func allowsFunction(_ name: UnsafePointer<CChar>?) -> Bool {
        guard let name else { return true }
        return refusedFunctions.allSatisfy { strcasecmp($0, name) != 0 }
    }

    private static let refusedFunctions = ["load_extension", "sqlcipher_export", "fts3_tokenizer"]

    private static let pragmasWithArgument: Set<String> = [
        "analysis_limit", "application_id", "foreign_key_check", "foreign_key_list", "incremental_vacuum", "index_info",
        "index_list", "index_xinfo", "integrity_check", "optimize", "quick_check", "table_info", "table_list",
        "table_xinfo", "user_version", "wal_checkpoint",
    ]

    private static let questions: Set<String> = [
        "auto_vacuum", "busy_timeout", "cache_size", "cell_size_check", "checkpoint_fullfsync",
        "cipher_integrity_check",
        "cipher_memory_security",
        "cipher_page_size", "cipher_provider", "cipher_provider_version", "cipher_version", "collation_list",
        "compile_options", "data_version", "database_list", "encoding", "foreign_keys", "freelist_count",
        "fullfsync", "function_list",
        "journal_mode", "module_list", "page_count", "page_size", "query_only", "recursive_triggers", "schema_version",
        "secure_delete", "synchronous", "temp_store", "trusted_schema", "wal_autocheckpoint",
    ]
}
