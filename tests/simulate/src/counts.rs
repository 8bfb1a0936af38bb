//! Totals of a run.

/// Totals of a run, for the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) deliveries: u64,
    pub(crate) attempts: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    pub(crate) kills: u64,
    pub(crate) clock_changes: u64,
    pub(crate) failed_calls: u64,
    pub(crate) leases_lost: u64,
    pub(crate) steps: u64,
    /// Maximum of undisturbed milliseconds before the first attempt for a prompt receiver.
    pub(crate) longest_wait: i64,
}

impl Counts {
    /// Returns all totals except the longest wait, with their names.
    const fn totals(&mut self) -> [(&mut u64, &'static str); 9] {
        [
            (&mut self.deliveries, "deliveries"),
            (&mut self.attempts, "attempts"),
            (&mut self.delivered, "delivered"),
            (&mut self.dropped, "dropped"),
            (&mut self.kills, "kills"),
            (&mut self.clock_changes, "clock changes"),
            (&mut self.failed_calls, "failed calls"),
            (&mut self.leases_lost, "leases lost"),
            (&mut self.steps, "steps"),
        ]
    }

    pub(crate) fn add(&mut self, mut other: Self) {
        self.longest_wait = self.longest_wait.max(other.longest_wait);
        self.totals().into_iter().zip(other.totals()).for_each(|((sum, _), (count, _))| *sum += *count);
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut counts = *self;
        counts.totals().into_iter().try_for_each(|(count, name)| write!(f, "{count} {name}, "))?;
        write!(f, "longest wait {} ms", self.longest_wait)
    }
}
