//! Sizes of the largest organizations, as metrics.
//!
//! The metrics library would export the label of an organization forever, although the organization may no longer
//! be one of the largest. This module therefore renders the metrics itself.

use std::sync::Arc;
use std::time::Duration;

use candor_service::Services;
use candor_service::context::tenant_sizes::TenantSize;
use candor_service::runtime::tenant_sizes::measure_all;
use tokio::sync::watch;
use tokio::time::timeout;

const ROWS: &str = "candor_tenant_rows";
const BYTES: &str = "candor_tenant_bytes";
/// Pause between two rounds. Capacity planning needs no newer sizes.
const PAUSE: Duration = Duration::from_secs(3_600);

/// Measures all organizations immediately and then hourly, until the stop.
pub(crate) async fn measure_hourly(services: Arc<Services>, mut stop: watch::Receiver<bool>) {
    loop {
        let stop_receiver = stop.clone();
        match measure_all(&services, || !*stop_receiver.borrow()).await {
            Ok(()) => tracing::trace!("measured the organizations"),
            Err(error) => {
                tracing::warn!(%error, "cannot measure the sizes of the organizations; the next attempt is in an hour")
            }
        }
        if timeout(PAUSE, stop.wait_for(|is_stopped| *is_stopped)).await.is_ok() {
            return;
        }
    }
}

/// Renders the sizes of organizations; empty before the first round. `help` returns the help text of a metric.
pub(crate) fn render_sizes(sizes: &[TenantSize], help: fn(&str) -> &'static str) -> String {
    let mut text = String::new();
    if sizes.is_empty() {
        return text;
    }
    render(&mut text, (ROWS, help(ROWS)), sizes, |size| size.rows);
    render(&mut text, (BYTES, help(BYTES)), sizes, |size| size.bytes);
    text
}

fn render(
    text: &mut String,
    (name, help): (&str, &str),
    sizes: &[TenantSize],
    value: impl Fn(&TenantSize) -> u64,
) {
    text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} gauge\n"));
    for size in sizes {
        text.push_str(&format!("{name}{{organization=\"{}\"}} {}\n", size.organization, value(size)));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenant_sizes_are_rendered_with_the_organization_as_label() {
        assert_eq!(render_sizes(&[], |_| ""), "");
        let organization = "org_01KJPWD6M24DF9HWRAYHFSFV52".parse().unwrap();
        let text = render_sizes(&[TenantSize { organization, rows: 7, bytes: 900 }], |_| "");
        let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert_eq!(
            lines[1..3],
            [
                "# TYPE candor_tenant_rows gauge",
                "candor_tenant_rows{organization=\"org_01KJPWD6M24DF9HWRAYHFSFV52\"} 7"
            ]
        );
        assert_eq!(lines[5], "candor_tenant_bytes{organization=\"org_01KJPWD6M24DF9HWRAYHFSFV52\"} 900");
    }
}
