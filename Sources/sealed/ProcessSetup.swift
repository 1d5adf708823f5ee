import Foundation
import SealedData
import Terminal

/// Makes the state that the process inherits from its parent safe before the first command runs.
enum ProcessSetup {
    /// Prepares the process, and ends it if an argument cannot be passed on.
    static func run() {
        EncryptionKey.preventCoreDumps()
        openStandardDescriptors()
        // Otherwise a write at the limit of the file size ends the process and leaves its temporary files behind. When
        // the signal is ignored, the write returns an error.
        signal(SIGXFSZ, SIG_IGN)
        guard let argument = firstUnreadableArgument else { return }
        ErrorOutput.print("Error: argument \(argument) is not valid UTF-8, the only encoding of file names here")
        exit(ExitStatus.usage.rawValue)
    }

    /// Opens the standard descriptors that are closed, in the direction that is not used. Otherwise the next file to be
    /// opened would get the number, and the messages of the tool.
    private static func openStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest free number is the number of the closed descriptor.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// The position of the first argument whose bytes would be replaced in a string, so that it would name another file.
    private static var firstUnreadableArgument: Int? {
        (1..<Int(max(1, CommandLine.argc))).first { index in
            guard let argument = CommandLine.unsafeArgv[index] else { return false }
            return String(validatingCString: argument) == nil
        }
    }
}
