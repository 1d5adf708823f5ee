import SealedData
import Testing

@Suite("Transient properties")
struct TransientPropertyTests {
    struct Handle {
        var number = 1
    }

    @propertyWrapper
    struct Clamped {
        private var value: Int
        var wrappedValue: Int {
            get { value }
            set { value = min(newValue, 10) }
        }
        init(wrappedValue: Int) { value = min(wrappedValue, 10) }
    }

    @Model final class Document {
        var title = "t"
        @Transient var isSelected = false
        @Transient var handle: Handle?
        @Transient private(set) var observed = 1 { didSet { changes += 1 } }
        @Transient var changes = 0
        @Transient lazy var length = title.count
        @Transient @Clamped var clamped = 20
        @Transient let constant = Handle(number: 4)
        @Transient weak var delegate: AnyObject?

        init() {}

        func observe() { observed += 1 }
    }

    @Test func `transient properties are not stored`() throws {
        let new = Document()
        new.isSelected = true
        new.handle = Handle(number: 2)
        new.clamped = 5
        let saved = try Saved(new)
        #expect(new.isSelected)
        #expect(new.clamped == 5)
        #expect(!saved.model.isSelected)
        #expect(saved.model.handle?.number == nil)
        #expect(saved.model.clamped == 10)
        #expect(saved.model.constant.number == 4)
        #expect(saved.model.length == 1)
    }

    @Test func `changing a transient property does not change the model`() throws {
        let saved = try Saved(Document())
        saved.model.isSelected = true
        saved.model.observe()
        #expect(saved.model.changes == 1)
        #expect(!saved.model.hasChanges)
        #expect(!saved.context.hasChanges)
    }
}
