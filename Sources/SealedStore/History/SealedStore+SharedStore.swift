import EncryptedSQLite
import Guarded
package import ObjectGraph

extension SealedStore {
    package func onCommitByOthers(_ body: @escaping CommitReceiver) {
        // If the store gets its history later, the changes of the first commit of another store are unknown.
        if opened.hasHistory { opened.historyCursor.begin(opened) }
        opened.database.onForeignCommit { [weak opened] in
            if let opened { opened.historyCursor.announce(opened, to: body) }
        }
        opened.replacementReceiver.withLock { $0 = body }
        if opened.configuration.followsOtherProcesses { beginFollowing() }
    }

    package func beginFollowing() { opened.database.beginFollowing() }

    package func endFollowing() { opened.database.endFollowing() }
}
