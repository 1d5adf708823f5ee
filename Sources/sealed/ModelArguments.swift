import ArgumentParser
import Foundation
import ObjectGraph
import Terminal

/// The option that names the file of a model.
struct ModelArguments: ParsableArguments {
    @Option(help: "A file with the model of a new store in JSON, as 'sealed export --to model' writes it.")
    var model: String?

    /// Reads the model; nil without the option.
    func read() throws -> ManagedObjectModel? {
        guard let model else { return nil }
        let url = URL(filePath: model, directoryHint: .notDirectory)
        do {
            return try JSONDecoder().decode(ManagedObjectModel.self, from: Data(contentsOf: url))
        } catch let error as ModelError {
            let lines = "\(error)".split(separator: "\n").map { String($0).printable }
            throw ValidationError(lines.joined(separator: "\n  "))
        } catch {
            throw ValidationError("The file of the model cannot be read, or is not a model in JSON.")
        }
    }
}
