import ArgumentParser

/// The command-line tool for encrypted stores.
@main
struct SealedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealed",
        abstract: "Reads encrypted SealedData stores, without the programs that created them.",
        discussion: """
            The passphrase comes from the environment variable SEALED_PASSPHRASE or is asked for on the terminal. \
            Stores are only read.
            """,
        subcommands: [InspectCommand.self, QueryCommand.self]
    )
}
