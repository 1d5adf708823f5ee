package import Dispatch

/// The longest time that a test waits for an event of another thread or process before it fails. A loaded machine can
/// delay an event for many seconds.
package let maximumWait = DispatchTimeInterval.seconds(120)
