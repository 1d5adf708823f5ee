import SealedData
import Testing

@Suite("Migration stages in the language modes")
struct MigrationStageTests {
    @Test(arguments: Compiler.LanguageMode.allCases)
    func `the functions of a stage may share a captured variable`(mode: Compiler.LanguageMode) throws {
        let source = """
            import SealedData

            enum FirstSchema: VersionedSchema {
                static let versionIdentifier = Schema.Version(1, 0, 0)
                static var models: [any PersistentModel.Type] { [Trip.self] }

                @Model final class Trip {
                    var name = ""
                    init() {}
                }
            }

            enum SecondSchema: VersionedSchema {
                static let versionIdentifier = Schema.Version(2, 0, 0)
                static var models: [any PersistentModel.Type] { [Trip.self] }

                @Model final class Trip {
                    var names: [String] = []
                    init() {}
                }
            }

            enum Plan: SchemaMigrationPlan {
                static var schemas: [any VersionedSchema.Type] { [FirstSchema.self, SecondSchema.self] }
                static var stages: [MigrationStage] {
                    var names: [String] = []
                    return [
                        .custom(
                            fromVersion: FirstSchema.self,
                            toVersion: SecondSchema.self,
                            willMigrate: { context in
                                names = try context.fetch(FetchDescriptor<FirstSchema.Trip>()).map(\\.name)
                            },
                            didMigrate: { context in
                                let trips = try context.fetch(FetchDescriptor<SecondSchema.Trip>())
                                for trip in trips { trip.names = names }
                                try context.save()
                            }
                        )
                    ]
                }
            }
            """
        let found = try Compiler.diagnostics(of: source, mode: mode)
        #expect(found.allSatisfy { $0.severity == "warning" }, "\(found)")
    }
}
