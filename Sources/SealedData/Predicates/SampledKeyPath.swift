/// A key path through a property of a model, which is read from sample models.
///
/// The last property before the end of the path, or before the members of a structure, gets a generated value: what the
/// path reads then shows which part of the value it leads to.
struct SampledKeyPath {
    let keyPath: AnyKeyPath
    /// The slots of the properties, each in the class of the previous property's value.
    let slots: [Int]

    /// Returns the value that the key path reads from a model whose last property has a value; nil if the path does not
    /// begin at the class, or there is no sample of a class on it.
    func value(holding value: SampleValue, from model: any PersistentModel.Type) -> Any? {
        func read<Model: PersistentModel>(_ model: Model.Type) -> Any? {
            guard let keyPath = keyPath as? PartialKeyPath<Model>, let last = slots.last else { return nil }
            var models: [any PersistentModel] = []
            var type: any PersistentModel.Type = model
            for slot in slots {
                let isLast = slot == last && models.count == slots.count - 1
                guard let sample = type.sample(with: isLast ? [slot: value] : [:]) else { return nil }
                models.append(sample)
                let property = PropertyLookup.properties(of: type).keyPath(at: slot)
                if case .toOne(let destination)? = PropertyKind(of: Swift.type(of: property).valueType) {
                    type = destination
                }
            }
            for (number, slot) in slots.dropLast().enumerated() {
                models[number].setDestination(models[number + 1], at: slot)
            }
            guard let root = models.first as? Model else { return nil }
            var result: Any?
            _ = AccessRecorder.slots(of: root) { result = root[keyPath: keyPath] }
            return result
        }
        return read(model)
    }
}
