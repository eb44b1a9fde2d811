//! What every process has, under the names that Prometheus has for it.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use metrics::{describe_gauge, gauge};
use rustix::{
    param::page_size,
    process::{Resource, getrlimit},
    time::{ClockId, clock_gettime},
};

use super::metrics::{float, size};

pub(super) fn describe() {
    describe_gauge!(
        "process_start_time_seconds",
        "When the server began, since 1970."
    );
    describe_gauge!("process_resident_memory_bytes", "Memory that is in use.");
    describe_gauge!("process_open_fds", "File descriptors that are open.");
    describe_gauge!("process_max_fds", "File descriptors that may be open.");
}

/// Sets what can be told here; where there is no `/proc`, memory and open descriptors cannot.
pub(super) fn gather(begun: SystemTime) {
    let begun = begun.duration_since(SystemTime::UNIX_EPOCH);
    gauge!("process_start_time_seconds").set(begun.unwrap_or_default().as_secs_f64());
    if let Some(bytes) = resident_bytes() {
        gauge!("process_resident_memory_bytes").set(size(bytes));
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        // One is the folder itself, open while it is read.
        gauge!("process_open_fds").set(size(open.count().saturating_sub(1)));
    }
    if let Some(max) = getrlimit(Resource::Nofile).current {
        gauge!("process_max_fds").set(float(max));
    }
}

/// CPU time of all threads. Not a counter of the exporter, which knows whole numbers only.
pub(super) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanos)
}

fn resident_bytes() -> Option<usize> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let resident: usize = pages.split_ascii_whitespace().nth(1)?.parse().ok()?;
    resident.checked_mul(page_size())
}
