/// Counts the rows that are read on a connection, and reports their number at intervals.
///
/// Code that reads long results calls ``didReadRow()`` for each row if the connection has an observer.
package final class RowObserver {
    /// The number of rows between two reports.
    private static let rowsBetweenReports = 256

    private let report: (Int) -> Void
    private var unreported = 0

    fileprivate init(_ report: @escaping (Int) -> Void) {
        self.report = report
    }

    /// Counts a row.
    package func didReadRow() {
        unreported += 1
        if unreported == Self.rowsBetweenReports { reportRest() }
    }

    fileprivate func reportRest() {
        guard unreported > 0 else { return }
        report(unreported)
        unreported = 0
    }
}

extension Connection {
    /// Runs `body`, and calls `report` with the numbers of rows that it reads.
    package func observingRows<R>(_ report: @escaping (Int) -> Void, _ body: () throws -> R) rethrows -> R {
        let outer = rowObserver
        let observer = RowObserver(report)
        rowObserver = observer
        defer {
            rowObserver = outer
            observer.reportRest()
        }
        return try body()
    }
}
