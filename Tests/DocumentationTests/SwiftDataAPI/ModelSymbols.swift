import Foundation
import SealedData

extension SymbolList {
    mutating func addModels() {
        // The probes use the macros.
        add("@Model", Probe.self)
        add("@Attribute(_:originalName:hashModifier:)", Probe.self)
        add(
            "@Relationship(_:deleteRule:minimumModelCount:maximumModelCount:originalName:inverse:hashModifier:)",
            Probe.self
        )
        add("@Transient", Probe.self)
        add("@_TransformablePersistedProperty", Probe.self)
        add("#Index(_:)", Probe.self)
        add("#Unique(_:)", Probe.self)
        add("@ModelActor", ProbeActor.self)

        add("PersistentModel", (any PersistentModel).self)
        add("PersistentModel.init(backingData:)", { (data: any BackingData<Probe>) in Probe(backingData: data) })
        add("PersistentModel.persistentBackingData", \Probe.persistentBackingData)
        add("PersistentModel.schemaMetadata", { Probe.schemaMetadata })
        add(
            "PersistentModel.createBackingData()",
            { () -> Any in
                let data: some BackingData<Probe> = Probe.createBackingData()
                return data
            }
        )
        add("PersistentModel.modelContext", \Probe.modelContext)
        add("PersistentModel.persistentModelID", \Probe.persistentModelID)
        add("PersistentModel.id", \Probe.id)
        add("PersistentModel.hasChanges", \Probe.hasChanges)
        add("PersistentModel.isDeleted", \Probe.isDeleted)
        add("PersistentModel.==(_:_:)", { (left: Probe, right: Probe) in left == right })
        add("PersistentModel.hash(into:)", { (probe: Probe) in probe.hash })
        add(
            "PersistentModel.getValue(forKey:)",
            { (probe: Probe) in
                (
                    probe.getValue(forKey: \.name), probe.getValue(forKey: \.above) as Probe?,
                    probe.getValue(forKey: \.below) as [Probe]
                )
            }
        )
        add(
            "PersistentModel.setValue(forKey:to:)",
            { (probe: Probe) in
                probe.setValue(forKey: \.name, to: "")
                probe.setValue(forKey: \.above, to: probe)
                probe.setValue(forKey: \.below, to: [probe])
            }
        )
        add(
            "PersistentModel.getTransformableValue(forKey:)",
            { (probe: Probe) in
                probe.getTransformableValue(forKey: \.name)
            }
        )
        add(
            "PersistentModel.setTransformableValue(forKey:to:)",
            { (probe: Probe) in
                probe.setTransformableValue(forKey: \.name, to: "")
            }
        )

        add("RelationshipCollection", (any RelationshipCollection).self)
        add("RelationshipCollection.PersistentElement", [Probe].PersistentElement.self)
        add("Array: RelationshipCollection", [Probe].self as any RelationshipCollection.Type)
        add("Optional: RelationshipCollection", [Probe]?.self as any RelationshipCollection.Type)
        add("Observation", (any Observable).self)
    }

    mutating func addBackingData() {
        func use<Data: BackingData<Probe>>(_ data: Data, _ list: inout SymbolList) {
            list.add("BackingData.init(for:)", { Data(for: Probe.self) })
            list.add("BackingData.persistentModelID", \Data.persistentModelID)
            list.add("BackingData.metadata", \Data.metadata)
            list.add(
                "BackingData.getValue(forKey:)",
                { (data: Data) in
                    (
                        data.getValue(forKey: \.name), data.getValue(forKey: \.above) as Probe?,
                        data.getValue(forKey: \.below) as [Probe]
                    )
                }
            )
            list.add(
                "BackingData.setValue(forKey:to:)",
                { (data: Data) in
                    data.setValue(forKey: \.name, to: "")
                    data.setValue(forKey: \.above, to: nil as Probe?)
                    data.setValue(forKey: \.below, to: [] as [Probe])
                }
            )
            list.add(
                "BackingData.getTransformableValue(forKey:)",
                { (data: Data) in
                    data.getTransformableValue(forKey: \.name)
                }
            )
            list.add(
                "BackingData.setTransformableValue(forKey:to:)",
                { (data: Data) in
                    data.setTransformableValue(forKey: \.name, to: "")
                }
            )
        }
        add("BackingData", (any BackingData).self)
        use(Probe.createBackingData(), &self)
    }
}
