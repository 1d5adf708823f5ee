import ArgumentParser

/// The demo: an import with queries, and a list that follows the writes of other processes.
@main
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealed-demo",
        abstract: "Shows what SealedData does.",
        subcommands: [ImportCommand.self, WatchCommand.self, AddCommand.self, RemoveCommand.self],
        defaultSubcommand: ImportCommand.self
    )
}
