import EncryptedSQLite
import Guarded
package import ObjectGraph

extension SealedStore {
    package func onCommitByOthers(_ body: @escaping CommitReceiver) {
        // The first commit of others to a store that gets its history later is unknown.
        if opened.hasHistory { opened.historyFollowing.begin(opened) }
        opened.database.onForeignCommit { [weak opened] in
            if let opened { opened.historyFollowing.announce(opened, to: body) }
        }
        opened.replacementReceiver.withLock { $0 = body }
        if opened.description.options[Self.followsOtherProcessesOption] as? Bool ?? false { beginFollowing() }
    }

    package func beginFollowing() { opened.database.beginFollowing() }

    package func endFollowing() { opened.database.endFollowing() }
}
