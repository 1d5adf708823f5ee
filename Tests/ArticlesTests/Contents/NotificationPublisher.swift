import Foundation

// The parts of Combine that the article uses, which other platforms than Apple's do not have.

/// Ends an observation when it is deallocated.
final class AnyCancellable: Hashable {
    private let observer: any NSObjectProtocol

    init(_ observer: any NSObjectProtocol) { self.observer = observer }

    deinit { NotificationCenter.default.removeObserver(observer) }

    func store(in cancellables: inout Set<AnyCancellable>) { cancellables.insert(self) }

    static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The notifications of a name.
struct NotificationPublisher {
    let name: Notification.Name

    func sink(_ receive: @escaping @Sendable (Notification) -> Void) -> AnyCancellable {
        AnyCancellable(NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil, using: receive))
    }
}

extension NotificationCenter {
    func publisher(for name: Notification.Name) -> NotificationPublisher { NotificationPublisher(name: name) }
}
