import ArgumentParser
import Foundation
import SealedData
import Terminal

/// Shows the notes, and keeps the list current while other processes write.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows a list of notes while other processes write.",
        discussion: "Start it in one terminal, and 'sealed-demo add' and 'sealed-demo remove' in others."
    )

    @OptionGroup var notes: NoteStore

    @MainActor
    func run() async throws {
        let container = try notes.open()
        let watching = Task { try await Self.watch(container.mainContext) }
        Thread.detachNewThread {
            // The list ends with the input, or a line 'q'.
            while let line = readLine(), line != "q" {}
            watching.cancel()
        }
        try await watching.value
        try Output.print("Ended.")
    }

    @MainActor
    private static func watch(_ context: ModelContext) async throws {
        let notes = try ResultsObserver(sortBy: [SortDescriptor(\Note.text)], modelContext: context)
        for await changes in notes.changes() {
            let new = Set(changes.isInitial ? [] : changes.insertions.map(\.index))
            var lines = notes.results.enumerated().map { (new.contains($0) ? "+ " : "  ") + $1.text }
            lines.append("\(lines.count.grouped) notes; 'q' and the return key end the list")
            try Output.redraw(lines)
        }
    }
}
