import EncryptedSQLite
package import ObjectGraph

extension SealedStore: SharedStore {
    package func onCommitByOthers(_ body: @escaping @Sendable (CommittedChanges?) -> Void) {
        opened.database.onForeignCommit { body(nil) }
        if opened.description.options[Self.followsOtherProcessesOption] as? Bool ?? false { beginFollowing() }
    }

    package func beginFollowing() { opened.database.beginFollowing() }

    package func endFollowing() { opened.database.endFollowing() }
}
