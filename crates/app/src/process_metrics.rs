//! Metrics of the process: memory, files and processor time, named as in other Prometheus clients.
//!
//! Every scrape reads Linux's `/proc`. Other systems have none of these metrics.

use std::fs;

use rustix::param::{clock_ticks_per_second, page_size};

/// Gauges and their help texts.
const GAUGES: [(&str, &str); 7] = [
    ("process_open_fds", "Number of open file descriptors."),
    ("process_max_fds", "Maximum number of open file descriptors, 0 if there is none."),
    ("process_virtual_memory_bytes", "Virtual memory size in bytes."),
    ("process_virtual_memory_max_bytes", "Maximum amount of virtual memory in bytes, 0 if there is none."),
    ("process_resident_memory_bytes", "Resident memory size in bytes."),
    ("process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
    ("process_threads", "Number of OS threads in the process."),
];

const PROCESSOR_TIME: &str = "process_cpu_seconds_total";

/// Registers the help texts of the gauges.
pub(crate) fn describe() {
    for (name, says) in GAUGES {
        metrics::describe_gauge!(name, says);
    }
}

/// Updates the gauges. Values that cannot be read stay unchanged.
pub(crate) fn collect() {
    let boot = fs::read_to_string("/proc/stat").ok().as_deref().and_then(boot_time);
    if let Some(stat) = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(Stat::parse) {
        let ticks = clock_ticks_per_second();
        set("process_threads", stat.threads);
        set("process_virtual_memory_bytes", stat.virtual_bytes);
        set("process_resident_memory_bytes", stat.resident_pages * page_size() as u64);
        if let Some(boot) = boot {
            set("process_start_time_seconds", boot + stat.started_ticks / ticks);
        }
    }
    if let Ok(limits) = fs::read_to_string("/proc/self/limits") {
        set("process_max_fds", soft_limit(&limits, "Max open files"));
        set("process_virtual_memory_max_bytes", soft_limit(&limits, "Max address space"));
    }
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        set("process_open_fds", files.count() as u64);
    }
}

/// Renders the processor time. The metrics library counts in whole numbers, which are too coarse for an idle
/// process.
pub(crate) fn processor_time() -> String {
    let stat = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(Stat::parse);
    stat.map_or_else(String::new, |stat| render_seconds(stat.processor_ticks, clock_ticks_per_second()))
}

#[expect(clippy::cast_precision_loss, reason = "ticks of processor time are far below 2^53")]
fn render_seconds(ticks: u64, per_second: u64) -> String {
    let seconds = ticks as f64 / per_second.max(1) as f64;
    format!(
        "# HELP {PROCESSOR_TIME} Total user and system CPU time spent in seconds.\n\
         # TYPE {PROCESSOR_TIME} counter\n{PROCESSOR_TIME} {seconds}\n\n"
    )
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and bytes of memory are far below 2^53")]
fn set(name: &'static str, value: u64) {
    metrics::gauge!(name).set(value as f64);
}

/// Fields of `/proc/self/stat`; proc(5) numbers them from 1.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    processor_ticks: u64,
    threads: u64,
    started_ticks: u64,
    virtual_bytes: u64,
    resident_pages: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The second field is the program's name in parentheses, which may contain any characters.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            processor_ticks: field(14)? + field(15)?,
            threads: field(20)?,
            started_ticks: field(22)?,
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
        })
    }
}

/// Returns the boot time of the machine, in seconds since 1970.
fn boot_time(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

/// Returns the soft limit of this name in `/proc/self/limits`, or 0 if it is unlimited.
fn soft_limit(limits: &str, name: &str) -> u64 {
    let line = limits.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_ascii_whitespace().next()).and_then(|value| value.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_parser_accepts_any_program_name() {
        let text =
            "42 (a ) b) S 1 42 42 0 -1 4194560 900 0 3 0 250 50 0 0 20 0 9 0 7700 123456 321 18446744073709551615";
        let expected_stat = Stat {
            processor_ticks: 300,
            threads: 9,
            started_ticks: 7700,
            virtual_bytes: 123_456,
            resident_pages: 321,
        };
        assert_eq!(Stat::parse(text), Some(expected_stat));
        assert_eq!(Stat::parse("42 (candor) S 1"), None);
    }

    #[test]
    fn processor_time_has_fractions_of_a_second() {
        let text = render_seconds(1_234, 100);
        assert!(
            text.ends_with("\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 12.34\n\n"),
            "{text}"
        );
    }

    #[test]
    fn soft_limit_is_parsed_and_may_be_missing() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max open files            1024                 524288               files     \n\
                    Max address space         unlimited            unlimited            bytes     \n";
        assert_eq!(soft_limit(text, "Max open files"), 1024);
        assert_eq!(soft_limit(text, "Max address space"), 0);
        assert_eq!(soft_limit(text, "Max pending signals"), 0);
        assert_eq!(boot_time("cpu  1 2 3\nbtime 1700000000\nprocesses 9\n"), Some(1_700_000_000));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn current_process_has_threads_memory_and_start_time() {
        let stat = Stat::parse(&fs::read_to_string("/proc/self/stat").unwrap()).unwrap();
        assert!(stat.threads > 0 && stat.virtual_bytes > 0 && stat.resident_pages > 0 && stat.started_ticks > 0);
        assert!(boot_time(&fs::read_to_string("/proc/stat").unwrap()).is_some());
        assert!(soft_limit(&fs::read_to_string("/proc/self/limits").unwrap(), "Max open files") > 0);
    }
}
