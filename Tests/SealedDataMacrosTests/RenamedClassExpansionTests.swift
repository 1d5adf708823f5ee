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

                    @safe @exclusivity(unchecked) nonisolated(unsafe) var _$state = SealedData._ObjectState(Place.self)

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        0
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {

                    }

                    private static func _$ownMetadata_Place() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "SealedData.Schema._OriginalName",
                                keypath: \\SealedData.Schema.encodingVersion,
                                defaultValue: nil,
                                metadata: SealedData.Schema._OriginalName<Place>("Stop")
                            )
                        ]
                    }

                    nonisolated static var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        SealedData._unisolated(_$ownMetadata_Place)
                    }

                    nonisolated init(_materializing: SealedData._Materialization) {

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
