import Testing

@testable import SealedData

@Suite("Errors of the module")
struct SwiftDataErrorTests {
    @Test func `an error is matched by its kind, regardless of its explanation`() {
        let error: any Error = SwiftDataError(.unknownSchema, "version 7")
        #expect(SwiftDataError.unknownSchema ~= error)
        #expect(!(SwiftDataError.backwardMigration ~= error))
        do {
            throw error
        } catch SwiftDataError.unknownSchema {
        } catch {
            Issue.record("not caught: \(error)")
        }
    }

    @Test func `the description contains kind, explanation and cause`() {
        struct Cause: Error, CustomStringConvertible {
            let description = "the disk is full"
        }
        let error = SwiftDataError(.loadIssueModelContainer, "trips.store", cause: Cause())
        #expect("\(error)" == "the container cannot be opened: trips.store: the disk is full")
        #expect("\(SwiftDataError.missingModelContext)" == "the object is in no context")
    }
}
