import ArgumentParser
import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import SealedTransfer
import Terminal

/// The exit statuses of the tool, after sysexits(3).
enum ExitStatus: Int32 {
    case problemsFound = 1
    case usage = 64
    case damaged = 65
    case noInput = 66
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case busy = 75
    case noPermission = 77
    case interrupted = 130

    /// The status for an error; nil for an error of the arguments, and for a status.
    init?(_ error: any Error) {
        switch error {
        case is ExitCode, is CleanExit, is ValidationError: return nil
        case is CancellationError: self = .interrupted
        case is CommandError: self = .usage
        case is KeySourceError, is KeyProviderError, is PassphraseError: self = .noPermission
        case is OutputError: self = .inputOutput
        case let error as DatabaseError:
            switch error {
            case .missingKey, .invalidKey, .wrongKey: self = .noPermission
            case .fileNotFound, .emptyFile, .permissionDenied, .unwritableFolder, .hardLinked: self = .noInput
            case .notADatabase, .foreignApplication, .newerFormat, .damaged, .foreignLog, .superJournal,
                .damagedIndex:
                self = .damaged
            case .cannotOpen, .diskFull: self = .cannotCreate
            case .busy, .moved: self = .busy
            default: self = .inputOutput
            }
        case TransferError.unreadable: self = .noInput
        case is SalvageError, is SealedStoreError, is TransferError: self = .damaged
        // Not 1, which is the status of a command that has done its work and found problems.
        default: self = .software
        }
    }

    /// Runs a command, and writes its output. An error of a store, a key or the output is printed and becomes the
    /// status of the process.
    static func reporting(_ body: () throws -> Void) throws {
        do {
            do {
                try body()
            } catch let code as ExitCode {
                // The tool reports output that cannot be written as an error, also after a report without problems.
                try Output.flush()
                throw code
            }
            try Output.flush()
        } catch {
            // The output must precede the error.
            try? Output.flush()
            guard let status = ExitStatus(error) else { throw error }
            if status != .interrupted { ErrorOutput.print("Error: \(error)") }
            throw ExitCode(status.rawValue)
        }
    }
}
