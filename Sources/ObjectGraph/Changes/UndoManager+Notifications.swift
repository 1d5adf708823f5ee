#if !canImport(Darwin)
    public import Foundation

    // On Apple's platforms, Foundation declares them.
    extension Notification.Name {
        /// Posted before an ``UndoManager`` opens or ends a group, undoes or redoes, or returns whether it can.
        public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
        /// Posted after an ``UndoManager`` has begun a group.
        public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
        /// Posted before an ``UndoManager`` ends a group.
        public static let NSUndoManagerWillCloseUndoGroup =
            Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
        /// Posted after an ``UndoManager`` has ended a group.
        public static let NSUndoManagerDidCloseUndoGroup =
            Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
        /// Posted before an ``UndoManager`` undoes a group.
        public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
        /// Posted after an ``UndoManager`` has undone a group.
        public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
        /// Posted before an ``UndoManager`` redoes a group.
        public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
        /// Posted after an ``UndoManager`` has redone a group.
        public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
    }
#endif
