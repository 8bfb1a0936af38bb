//! The erasure of a person with many observations, and the wait of other writers meanwhile.

use super::*;

/// Number of observations about the person.
const COUNT: usize = 2_000;
const MAX_SECONDS: f64 = 20.0;
/// Limit on the p99 of other writers, as a multiple of their p99 without an erasure.
const MAX_TAIL: f64 = 1.2;
/// Deadline for one erasure.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause between two reads of the receipt.
const POLL: Duration = Duration::from_millis(200);
/// First seed of the random requests. Other measures have other seeds, so that no request repeats another one.
const SEED: u64 = 110_000;

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let writes = Traffic::creates_about(&[instance.create_organization()?.create_person()?]);
    let rounds = (0..data.options.rounds() as u64).map(|number| round(instance, &writes, SEED + 10 * number));
    let rounds = rounds.collect::<Result<Vec<_>>>()?;
    let p99 = |sample: &Sample| sample.millis_within(0.99);
    let ratio = median_of(&rounds, |(_, beside, alone)| p99(beside) / p99(alone));
    let figures = [
        format!("{:.2} ms", median_of(&rounds, |(_, beside, _)| p99(beside))),
        format!("without one {:.2} ms", median_of(&rounds, |(_, _, alone)| p99(alone))),
    ];
    let line = |what: &str, figures, value, at_most| {
        Line::new(what, instance.store, figures, value, Limit::AtMost(at_most))
    };
    let parts = ["10 s of them until no search reads replaced parts of the index".to_owned(), String::new()];
    let took = median_of(&rounds, |(seconds, ..)| *seconds);
    Ok(vec![
        line("Erasure of a person with 2,000 observations, until the receipt", parts, (took, "s"), MAX_SECONDS),
        line("p99 of another tenant's writes beside an erasure", figures, (ratio, "×"), MAX_TAIL),
    ])
}

/// Returns the seconds of an erasure, and samples of the writers beside it and after it.
fn round(instance: &Instance, writes: &Traffic, seed: u64) -> Result<(f64, Sample, Sample)> {
    let (address, tenant) = (instance.service.address, instance.create_organization()?);
    let person = tenant.create_person()?;
    let path = format!("/v1/employees/{}", person.id);
    burst(address, &Traffic::creates_about(&[person]), Shape::for_requests(COUNT, seed))?;
    tenant.send("POST", &format!("{path}/deactivate"), &json!({}))?;
    let (took, with) = run_beside(address, writes, seed + 1, || seconds(|| erase(&tenant, &path)))?;
    let (_, alone) = run_beside(address, writes, seed + 2, || wait(Duration::from_secs_f64(took)))?;
    Ok((took, with, alone))
}

/// Erases a person, and waits for the receipt.
fn erase(tenant: &Api, person: &str) -> Result {
    let start = Instant::now();
    let erasure = format!("/v1/erasures/{}", tenant.create(&format!("{person}/erasure"), &json!({}))?);
    while tenant.get(&erasure)?["status"] != "completed" {
        if start.elapsed() > PATIENCE {
            return Err(format!("the erasure takes more than {PATIENCE:?}").into());
        }
        wait(POLL)?;
    }
    Ok(())
}
