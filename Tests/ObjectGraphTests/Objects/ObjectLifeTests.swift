import Testing

@testable import ObjectGraph

/// The states of an object and the transitions between them.
struct ObjectLifeTests {
    @Test func `an object is saved, fetched, changed and deleted`() {
        var life = ObjectLife.unchanged
        life.insert()
        #expect(life == .inserted)
        life.didSave()
        #expect(life == .unchanged)
        life.update()
        #expect(life == .updated)
        life.didSave()
        life.delete()
        #expect(life == .deleted && life.isDeletedOrMissing && !life.isMissing)
        life.didSave()
        #expect(life == .erased && life.isDeletedOrMissing && life.isMissing)
    }

    @Test func `an erased object that is inserted again stays erased when the insertion is dropped`() {
        var life = ObjectLife.erased
        life.insert()
        #expect(life == .reinserted && life.isInserted && !life.isDeletedOrMissing)
        life.revert()
        #expect(life == .erased)
        life.insert()
        life.discard()
        #expect(life == .erased)
        life.insert()
        life.didSave()
        #expect(life == .unchanged)
    }

    @Test func `a row that another context deletes makes pending changes conflicts`() {
        var (updated, deleted) = (ObjectLife.updated, ObjectLife.deleted)
        updated.markMissing()
        deleted.markMissing()
        #expect(updated == .updatedMissing && updated.isUpdated && updated.isLost)
        #expect(deleted == .deletedMissing && deleted.isDeleted && !deleted.isLost)
        updated.revert()
        deleted.revert()
        #expect(updated == .missing && deleted == .missing)
    }

    @Test(arguments: ObjectLife.allCases)
    func `a missing row changes nothing for a new object, and no answer twice`(life: ObjectLife) {
        var once = life
        once.markMissing()
        #expect(once.isInserted == life.isInserted)
        #expect(once.isMissing != once.isInserted)
        var twice = once
        twice.markMissing()
        #expect(twice == once)
    }

    @Test(arguments: ObjectLife.allCases)
    func `a dropped change leaves none, and the row as it was`(life: ObjectLife) {
        var reverted = life
        reverted.revert()
        #expect(!reverted.hasChanges)
        if !life.isInserted { #expect(reverted.isMissing == life.isMissing) }
    }

    @Test(arguments: ObjectLife.allCases)
    func `questions do not contradict each other`(life: ObjectLife) {
        #expect([life.isInserted, life.isUpdated, life.isDeleted].count(where: \.self) <= 1)
        #expect(life.hasChanges == (life.isInserted || life.isUpdated || life.isDeleted))
        #expect(life.changesRow == (life.isUpdated || life.isDeleted))
        #expect(!life.isStored || life.canBeFilled)
        #expect(!life.canBeFilled || !life.isMissing)
        #expect(!life.isRestorable || (life.isMissing && !life.hasChanges))
        #expect(!life.isLost || life.isMissing)
        #expect(life.isDeletedOrMissing == (life.isDeleted || life.isMissing))
    }

    @Test func `the state fits beside the offset of the row`() {
        #expect(MemoryLayout<ObjectState>.size == 40)
    }
}
