import ArgumentParser
import Terminal

/// The demo: an import with queries, and a list that follows the writes of other processes.
@main
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealed-demo",
        abstract: "Shows what SealedData does.",
        subcommands: [ImportCommand.self, WatchCommand.self, AddCommand.self, RemoveCommand.self],
        defaultSubcommand: ImportCommand.self
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            try Output.flush()
        } catch {
            // The help has no text from outside.
            guard exitCode(for: error) != .success else { exit(withError: error) }
            ErrorOutput.end(with: fullMessage(for: error), status: exitCode(for: error).rawValue)
        }
    }
}
