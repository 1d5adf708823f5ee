import Testing

@Suite("The expansion of @Model for renamed classes")
struct RenamedClassExpansionTests {
    @Test func `the name is part of the schema metadata`() {
        expect(
            """
            @Model(originalName: "Stop") final class Place {
            }
            """,
            expandsTo: """
                final class Place {

                    @exclusivity(unchecked) var _$state = SealedData._ObjectState(Place.self)

                    var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        Swift.withUnsafeMutablePointer(to: &_$state) {
                            $0
                        }
                    }

                    static var _$slotCount: Swift.Int {
                        0
                    }

                    static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {

                    }

                    static var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "SealedData.Schema._OriginalName",
                                keypath: \\SealedData.Schema.encodingVersion,
                                defaultValue: nil,
                                metadata: SealedData.Schema._OriginalName<Place>("Stop")
                            )
                        ]
                    }

                    init(_materializing: SealedData._Materialization) {

                    }

                    init() {
                    }
                }

                extension Place: nonisolated SealedData.PersistentModel {
                }

                @available(*, unavailable, message: "A model belongs to its context. Pass its persistentModelID to the other isolation domain and fetch it there, for example in a ModelActor.")
                extension Place: Swift.Sendable {
                }
                """,
            with: Specs.model
        )
    }
}
