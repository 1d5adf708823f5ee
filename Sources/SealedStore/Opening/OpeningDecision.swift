/// What the opening of a store does, given the content of its file.
///
/// The decision is made in the read transaction that examines the file, and again in each write transaction that
/// carries it out, since another program may have changed the file between the transactions.
enum OpeningDecision {
    /// The store is opened as it is.
    case fits(FittingContent)
    /// The tables stay as they are. Missing indexes are built, and the models, the rules and the version are recorded.
    case updates(ModelChange)
    /// A stage of the program's plan is run, and the next decision is made after it.
    case runsStage(StagedMigration.Entry)
    /// The tables are migrated, after the program's rules for duplicates have resolved the problems.
    case migrates(MigrationPlan, resolving: [MigrationProblem])
    /// The store stays as it is, and opening it throws the error.
    case refused(SealedStoreError)
}
