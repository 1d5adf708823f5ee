import ArgumentParser
import SealedData

/// Adds notes.
struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Adds notes to the list.")

    @OptionGroup var notes: NoteStore

    @Argument(help: "The texts of the notes.")
    var texts: [String]

    func run() throws {
        let context = ModelContext(try notes.open())
        for text in texts { context.insert(Note(text)) }
        try context.save()
    }
}

/// Removes notes.
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Removes notes from the list.")

    @OptionGroup var notes: NoteStore

    @Argument(help: "The texts of the notes.")
    var texts: [String]

    func run() throws {
        let context = ModelContext(try notes.open())
        let texts = texts
        try context.delete(model: Note.self, where: #Predicate { texts.contains($0.text) })
        try context.save()
    }
}
