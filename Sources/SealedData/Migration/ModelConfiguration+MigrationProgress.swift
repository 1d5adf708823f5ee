public import Foundation
import SealedStore

extension ModelConfiguration {
    /// The key of the description of a migration's current step, a `String`, in the user info of ``migrationProgress``.
    public static var migrationStepKey: ProgressUserInfoKey { SealedStore.migrationStepKey }
    /// The key of the name of the entity that the current step concerns, a `String`, in the user info of
    /// ``migrationProgress``.
    public static var migrationEntityKey: ProgressUserInfoKey { SealedStore.migrationEntityKey }
    /// The key of the number of rows that the current step has written, an `Int`, in the user info of
    /// ``migrationProgress``.
    public static var migrationRowsKey: ProgressUserInfoKey { SealedStore.migrationRowsKey }
}
