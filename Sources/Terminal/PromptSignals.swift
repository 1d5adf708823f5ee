import Foundation
import Synchronization

/// The signals that would end or stop the process while the terminal has no echo: without this type, the next program
/// would have no echo either.
///
/// As in readpassphrase(3), a handler only notes the signal. The signals that have arrived are raised again when the
/// terminal is restored.
struct PromptSignals {
    /// The signals. SIGTSTP, which stops the process, comes last.
    private static let numbers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP]

    /// The actions before, by signal.
    private var actions: [(number: Int32, action: sigaction)] = []

    /// Installs the handlers. A signal that is ignored, as by `nohup`, stays ignored.
    init() {
        arrivedSignals.store(0, ordering: .relaxed)
        for number in Self.numbers {
            var before = sigaction()
            guard sigaction(number, nil, &before) == 0, !Self.isIgnored(before) else { continue }
            var action = sigaction()
            #if canImport(Darwin)
                action.__sigaction_u.__sa_handler = noteSignal
            #else
                action.__sigaction_handler.sa_handler = noteSignal
            #endif
            action.sa_flags = 0
            sigemptyset(&action.sa_mask)
            if sigaction(number, &action, nil) == 0 { actions.append((number, before)) }
        }
    }

    /// Whether a signal has arrived.
    static var haveArrived: Bool { arrivedSignals.load(ordering: .relaxed) != 0 }

    /// Restores the actions from before, and raises the signals that have arrived.
    ///
    /// - Returns: Whether the process was to stop, and continues.
    func restoreAndRaise() -> Bool {
        for (number, action) in actions {
            var action = action
            sigaction(number, &action, nil)
        }
        let arrived = arrivedSignals.exchange(0, ordering: .relaxed)
        for number in Self.numbers where arrived & Self.bit(of: number) != 0 { raise(number) }
        return arrived & Self.bit(of: SIGTSTP) != 0
    }

    fileprivate static func bit(of number: Int32) -> UInt32 { 1 << UInt32(number) }

    private static func isIgnored(_ action: sigaction) -> Bool {
        #if canImport(Darwin)
            let handler: (@convention(c) (Int32) -> Void)? = action.__sigaction_u.__sa_handler
        #else
            let handler: (@convention(c) (Int32) -> Void)? = action.__sigaction_handler.sa_handler
        #endif
        // Handlers are pointers, and cannot be compared otherwise.
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

/// The bits of the signals that have arrived. A handler has no other place for them.
private let arrivedSignals = Atomic<UInt32>(0)

/// The handler. It does nothing but what is safe in a handler: it changes a number without a lock.
private func noteSignal(_ number: Int32) {
    arrivedSignals.bitwiseOr(PromptSignals.bit(of: number), ordering: .relaxed)
}
