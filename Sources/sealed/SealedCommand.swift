import ArgumentParser
import Terminal

/// The command-line tool for encrypted stores.
@main
struct SealedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealed",
        abstract: "Reads, transfers and maintains encrypted SealedData stores, without the programs that created them.",
        discussion: """
            The key comes from --key-file, --key-fd or --key-env, else from the environment variable SEALED_PASSPHRASE, \
            else it is asked for on the terminal. It is never an argument, which every user of the machine can see. A \
            variable is overwritten and removed from the environment of the tool when it is read.

            Exit status:
              0   success, and the store is sound
              1   the command has done its work, and a store has problems or objects were lost
              64  the arguments are wrong
              65  the file is damaged, is no store, or its content does not fit
              66  a file does not exist or cannot be read
              70  another error, which the message describes
              73  a file cannot be created: it exists, or the disk is full
              74  reading or writing failed
              75  another process uses the store: try again
              77  the key does not open the store, or there is none
              130 the command was interrupted, and has changed nothing
            """,
        subcommands: [
            InspectCommand.self, QueryCommand.self, CheckCommand.self, RepairCommand.self, SalvageCommand.self,
            BackupCommand.self, RestoreCommand.self, CompactCommand.self, RekeyCommand.self, ImportCommand.self,
            ExportCommand.self,
            MigrateCommand.self,
        ]
    )

    static func main() {
        ProcessSetup.run()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            // The help and the version have no text from outside.
            guard exitCode(for: error) != .success else { exit(withError: error) }
            ErrorOutput.end(with: fullMessage(for: error), status: exitCode(for: error).rawValue)
        }
    }
}
