//! The simulation is reproducible, and finds deliberate defects.

use crate::run::{Defect, run};

/// Number of seeds within which each defect is found.
const SEEDS: u64 = 300;

/// Runs seeds until one reports this problem. Other problems of the defect are ignored.
fn finds(defect: Defect, problem: &str) {
    let mut reports = (1..=SEEDS).filter_map(|seed| run(seed, Some(defect), false).broken);
    assert!(reports.any(|broken| broken.contains(problem)), "no seed has found {defect:?}");
}

#[test]
fn lease_that_is_held_twice_is_found() {
    finds(Defect::OverratedLeases, "a lease is held twice");
}

#[test]
fn early_retry_is_found() {
    finds(Defect::HastyRetries, "before its time in the schedule");
}

#[test]
fn lost_delivery_is_found() {
    finds(Defect::ForgottenReturns, "it is lost");
}

#[test]
fn tenant_whose_queue_is_never_walked_to_is_found() {
    finds(Defect::StuckWalks, "it is starved");
}

#[test]
fn tenant_starved_by_hanging_receivers_is_found() {
    finds(Defect::AllReceiversQuick, "it is starved");
}

#[test]
fn attempt_without_a_log_entry_is_found() {
    finds(Defect::LogHoles, "is not in the log");
}

#[test]
fn attempt_before_the_requested_time_is_found() {
    finds(Defect::IgnoredRetryAfter, "before the requested time");
}

#[test]
fn request_to_a_gone_receiver_is_found() {
    finds(Defect::IgnoredGone, "the receiver is gone");
}

#[test]
fn receiver_with_more_requests_than_its_rate_is_found() {
    finds(Defect::IgnoredRates, "is exceeded");
}

#[test]
fn rate_that_two_processes_use_is_found() {
    finds(Defect::UnsharedRates, "is exceeded");
}

#[test]
fn delivery_dropped_while_waiting_for_a_rate_is_found() {
    finds(Defect::DroppedWaits, "it was deleted, though its subscription exists");
}

#[test]
fn limited_receiver_without_progress_is_found() {
    finds(Defect::EndlessRateLeases, "suffice for the rate of its receiver");
}

#[test]
fn same_seed_gives_the_same_month() {
    for seed in [1, 7, 2_000_000_000_000] {
        assert_eq!(run(seed, None, false), run(seed, None, false), "{seed}");
    }
    assert_ne!(run(1, None, false).digest, run(2, None, false).digest);
}

#[test]
fn months_pass_without_a_broken_promise() {
    for seed in 5_000..5_020 {
        assert_eq!(run(seed, None, false).broken, None, "{seed}");
    }
}
