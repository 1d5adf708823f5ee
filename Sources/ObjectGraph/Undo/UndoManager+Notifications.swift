public import Foundation

extension Notification.Name {
    static let checkpoint = Notification.Name("NSUndoManagerCheckpointNotification")
    static let didOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
    static let willCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
    static let didCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
    static let willUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
    static let didUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
    static let willRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
    static let didRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
}

#if !canImport(Darwin)
    // On Apple's platforms, Foundation declares them.
    extension Notification.Name {
        /// Posted before an ``UndoManager`` opens or ends a group, undoes or redoes, or returns whether it can.
        public static let NSUndoManagerCheckpoint = checkpoint
        /// Posted after an ``UndoManager`` has begun a group.
        public static let NSUndoManagerDidOpenUndoGroup = didOpenUndoGroup
        /// Posted before an ``UndoManager`` ends a group.
        public static let NSUndoManagerWillCloseUndoGroup = willCloseUndoGroup
        /// Posted after an ``UndoManager`` has ended a group.
        public static let NSUndoManagerDidCloseUndoGroup = didCloseUndoGroup
        /// Posted before an ``UndoManager`` undoes a group.
        public static let NSUndoManagerWillUndoChange = willUndoChange
        /// Posted after an ``UndoManager`` has undone a group.
        public static let NSUndoManagerDidUndoChange = didUndoChange
        /// Posted before an ``UndoManager`` redoes a group.
        public static let NSUndoManagerWillRedoChange = willRedoChange
        /// Posted after an ``UndoManager`` has redone a group.
        public static let NSUndoManagerDidRedoChange = didRedoChange
    }
#endif
