//! Headers set by proxies: client address and trace.

use std::cell::Cell;

use candor_http::HttpSettings;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::records::{Lines, logged};
use crate::support::TestApi;

const PROXY: &str = "10.0.0.1";

async fn behind_proxy(settings: HttpSettings) -> TestApi {
    TestApi::with(HttpSettings { trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()], ..settings }).await
}

#[tokio::test]
async fn proxied_clients_with_ports_have_separate_buckets() {
    let world = behind_proxy(crate::support::patient_settings()).await;
    let ask = async |forwarded: &str| {
        let request = world.bare("GET", "/v1/me").with_peer(PROXY).header("x-forwarded-for", forwarded);
        request.send().await.header("x-ratelimit-remaining").unwrap().to_owned()
    };
    assert_eq!(ask("203.0.113.5:4711").await, "59");
    assert_eq!(ask("203.0.113.5:4712").await, "58", "clients do not differ by their ports");
    assert_eq!(ask("203.0.113.6:4711").await, "59");
    assert_eq!(ask("\"[2001:db8::7]:443\"").await, "59");
    assert_eq!(ask("2001:db8::7").await, "58");
}

#[test]
fn unreadable_forwarded_header_is_logged_once_and_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let lines = Lines::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let world = behind_proxy(crate::support::patient_settings()).await;
            assert!(
                handle.render().contains("candor_forwarded_header_unreadable_total 0\n"),
                "the counter is registered with 0"
            );
            let _log_guard = logged(&lines);
            for (peer, forwarded) in [(PROXY, "unknown"), ("192.0.2.9", "unknown"), (PROXY, "nonsense")] {
                world.bare("GET", "/v1/me").with_peer(peer).header("x-forwarded-for", forwarded).send().await;
            }
        });
    });
    assert!(handle.render().contains("candor_forwarded_header_unreadable_total 2\n"), "{}", handle.render());
    let log = lines.text();
    assert_eq!(log.matches("X-Forwarded-For").count(), 1, "{log}");
    assert!(log.contains(PROXY) && !log.contains("nonsense"), "{log}");
}

thread_local! {
    static ADOPTED: Cell<usize> = const { Cell::new(0) };
}

#[tokio::test]
async fn trace_is_continued_for_trusted_proxies_only() {
    let adopt_trace = Some(
        (|_, header| {
            assert_eq!(header("traceparent").as_deref(), Some("00-4bf9-00f0-01"));
            ADOPTED.set(ADOPTED.get() + 1);
        }) as candor_http::AdoptTrace,
    );
    let world = behind_proxy(HttpSettings { adopt_trace, ..crate::support::patient_settings() }).await;
    let _log_guard = logged(&Lines::default());
    for (peer, adopted) in [("192.0.2.9", 0), (PROXY, 1), ("2001:db8::1", 1)] {
        let request = world.ask("GET", "/v1/me").with_peer(peer).header("traceparent", "00-4bf9-00f0-01");
        assert_eq!(request.send().await.status, 200);
        assert_eq!(ADOPTED.get(), adopted, "{peer}");
    }
}
