//! Life cycle of a serving process: start, background loops, and graceful stop after a signal.

mod clock_jumps;
mod listen;
mod operational;
mod records;
mod removal;
mod scim_log;
mod server_end;
mod signals;

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use candor_http::{
    AdminState, Api, HttpSettings, MetricsText, Readiness, ServerOptions, admin_server, refuse_connections, server,
};
use candor_mail::SmtpTransport;
use candor_service::Services;
use candor_service::runtime::delivery::{self, Engine};
use candor_service::runtime::mail::{self, Mailer};
use candor_service::runtime::{objective_autostart, reminders, search_index, sweep};
use candor_webhooks::Sender;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use crate::cli::Role;
use crate::serving_lock::ServingLock;
use crate::{store, telemetry, tenant_metrics, traces, wiring};
use candor_cli::error::CommandError;
use candor_settings::{Config, Setting};
use listen::bind;
use server_end::{ServerEnd, to_error};
use signals::Signals;

/// Time limit for requests in flight after the stop signal.
const REQUESTS_GRACE: Duration = Duration::from_secs(15);
/// Time limit for deliveries and mails in flight after the stop signal.
const DELIVERIES_GRACE: Duration = Duration::from_secs(15);
/// Additional time limit for recording the results of deliveries and mails.
const RECORDS_GRACE: Duration = Duration::from_secs(2);
/// Interval of the check for idle connections to receivers.
const CONNECTIONS_UPKEEP: Duration = Duration::from_secs(10);
/// Additional time limit for the background loops. Requests and deliveries finish concurrently, so all time limits
/// together stay below the documented 20 seconds.
const LOOPS_GRACE: Duration = Duration::from_millis(1500);
/// Time for the first request of a client that connected just before the listener closed.
const LAST_REQUESTS: Duration = Duration::from_millis(300);
/// Interval of search indexing. Searches scan unindexed texts one by one, so few should be unindexed.
const INDEXING: Duration = Duration::from_millis(500);
/// Interval of the metrics upkeep. Between two runs, the metrics library keeps every duration in a growing list.
const METRICS_UPKEEP: Duration = Duration::from_secs(10);

/// A running server process.
pub(crate) struct RunningServer {
    /// URL of the API, if this process serves requests.
    pub(crate) url: Option<String>,
    /// URL of the metrics, if they have a separate listener.
    pub(crate) metrics_url: Option<String>,
    /// Services that the process runs.
    pub(crate) services: Arc<Services>,
    readiness: Readiness,
    drain_delay: Duration,
    /// A second handle of the API's listener, to refuse new connections while open ones are still served.
    listener: Option<TcpListener>,
    /// Lock that is held while this process serves an embedded database.
    _serving: Option<ServingLock>,
    servers: JoinSet<ServerEnd>,
    deliveries: JoinSet<()>,
    loops: JoinSet<()>,
    stop: watch::Sender<bool>,
    signals: Signals,
}

impl RunningServer {
    /// Binds the listeners, opens the store and starts the loops.
    ///
    /// # Errors
    /// A taken address, an old schema, a missing or wrong master key, a database that is down or in use.
    pub(crate) async fn start(config: &Config, role: Role) -> Result<Self, CommandError> {
        let metrics = telemetry::start_metrics()?;
        let api = if role == Role::Worker { None } else { Some(bind(config.listen, Setting::Listen)?) };
        let admin =
            config.admin_listen.map(|admin_listen| bind(admin_listen, Setting::AdminListen)).transpose()?;
        let listener = api.as_ref().map(|(listener, _)| listener.try_clone()).transpose();
        let listener = listener.map_err(CommandError::io("use", "the listener"))?;
        let listening = api.as_ref().map_or(config.listen, |(_, address)| *address);
        let mut serving = ServingLock::take(&config.database)?;
        wiring::require_master_key(config)?;
        store::wait_until_it_answers(config).await?;
        let mails = wiring::mail_transport(config)?;
        let (services, sender) = wiring::services_and_sender(config, wiring::link_base(config, listening)).await?;
        // Locks the database file itself, which the first start has just created.
        serving.as_mut().map_or(Ok(()), |lock| lock.hold(&config.database))?;
        // Before this point, a signal ends the process immediately, also while it waits for the database.
        let signals = Signals::listen()?;
        let url_of = |bound: &Option<(TcpListener, SocketAddr)>| {
            bound.as_ref().map(|listener| wiring::local_url(listener.1))
        };
        let mut running = Self {
            url: url_of(&api),
            metrics_url: url_of(&admin).map(|url| format!("{url}/metrics")),
            services,
            readiness: Readiness::new_unready(),
            drain_delay: config.drain_delay,
            listener,
            _serving: serving,
            servers: JoinSet::new(),
            deliveries: JoinSet::new(),
            loops: JoinSet::new(),
            stop: watch::Sender::new(false),
            signals,
        };
        let text = telemetry::metrics_text(metrics.clone(), Arc::clone(&running.services));
        let own_listener = admin.is_some();
        if api.is_none() && !own_listener {
            tracing::warn!("no health or metrics endpoint: set CANDOR_ADMIN_LISTEN");
        }
        if let Some((listener, _)) = admin {
            running.serve_admin(listener, Arc::clone(&text))?;
        }
        if let Some((listener, _)) = api {
            running.services.limits.connect().await;
            running.serve_api(config, listener, (!own_listener).then_some(text))?;
        }
        running.start_loops(config, role, metrics);
        if role != Role::Api {
            running.start_deliveries(config, sender);
            running.start_mails(config, mails);
        }
        running.readiness.set_ready();
        tracing::info!(url = running.url, metrics_url = running.metrics_url, role = role.word(), "ready");
        Ok(running)
    }

    fn serve_api(
        &mut self,
        config: &Config,
        listener: TcpListener,
        metrics: Option<MetricsText>,
    ) -> Result<(), CommandError> {
        let settings = HttpSettings {
            cors_origins: config.cors_origins.clone(),
            trusted_proxies: config.trusted_proxies.clone(),
            metrics,
            console: config.console,
            adopt_trace: traces::ADOPT,
            ..HttpSettings::default()
        };
        let api = Arc::new(Api::new(Arc::clone(&self.services), settings, self.readiness.clone()));
        let options = ServerOptions {
            drain_seconds: REQUESTS_GRACE.as_secs(),
            connections_per_client: config.connections_per_client,
            ..ServerOptions::default()
        };
        let server = server(&api, vec![listener], options).map_err(CommandError::io("serve", "the API"))?;
        let handle = server.handle();
        self.servers.spawn(until_stopped(server, async move { handle.stop(true).await }, self.stop.subscribe()));
        Ok(())
    }

    fn serve_admin(&mut self, listener: TcpListener, metrics: MetricsText) -> Result<(), CommandError> {
        let admin_state =
            AdminState { services: Arc::clone(&self.services), readiness: self.readiness.clone(), metrics };
        let server =
            admin_server(admin_state, listener).map_err(CommandError::io("serve", "metrics and health"))?;
        let handle = server.handle();
        // Stopped without waiting: scrapers keep their connections open, and an aborted scrape is harmless.
        self.servers.spawn(until_stopped(server, async move { handle.stop(false).await }, self.stop.subscribe()));
        Ok(())
    }

    fn start_loops(&mut self, config: &Config, role: Role, metrics: PrometheusHandle) {
        let (services, sweeps, stop) = (Arc::clone(&self.services), role != Role::Api, self.stop.subscribe());
        self.loops.spawn(repeat_every(config.sweep_interval, self.stop.subscribe(), move || {
            let (services, stop) = (Arc::clone(&services), stop.clone());
            async move { due_work(&services, sweeps, || !*stop.borrow()).await }
        }));
        if role != Role::Api {
            // Indexes the rows that a database has from before search existed. Until they are indexed, searches in
            // their tables are refused.
            let (services, stop) = (Arc::clone(&self.services), self.stop.subscribe());
            self.loops.spawn(async move { fill_search_index(&services, || !*stop.borrow()).await });
            let (services, stop) = (Arc::clone(&self.services), self.stop.subscribe());
            self.loops.spawn(repeat_every(INDEXING, self.stop.subscribe(), move || {
                let (services, stop) = (Arc::clone(&services), stop.clone());
                async move { index_pending_rows(&services, || !*stop.borrow()).await }
            }));
            let (services, stop) = (&self.services, &self.stop);
            self.loops.spawn(removal::continue_erasures(Arc::clone(services), stop.subscribe()));
            self.loops.spawn(removal::continue_retention(Arc::clone(services), stop.subscribe()));
            self.loops.spawn(tenant_metrics::measure_hourly(Arc::clone(&self.services), self.stop.subscribe()));
        }
        self.loops.spawn(scim_log::store_regularly(Arc::clone(&self.services), self.stop.subscribe()));
        self.loops.spawn(repeat_every(METRICS_UPKEEP, self.stop.subscribe(), move || {
            metrics.run_upkeep();
            std::future::ready(())
        }));
    }

    fn start_deliveries(&mut self, config: &Config, sender: Sender) {
        let settings = delivery::Settings {
            schedule: config.webhooks_retry_schedule.clone(),
            timeout: config.webhooks_timeout,
        };
        let (services, mut stop) = (Arc::clone(&self.services), self.stop.subscribe());
        let engine = Engine::new(&services, settings);
        self.loops.spawn(clock_jumps::correct_delays(Arc::clone(&services), config.clone(), stop.clone()));
        self.deliveries.spawn(async move {
            if let Err(error) = sweep::prune_log(&services).await {
                tracing::warn!(%error, "cannot create or drop partitions of the delivery log; the next sweep retries");
            }
            engine.run(async move { drop(stop.wait_for(|is_stopped| *is_stopped).await) }, DELIVERIES_GRACE).await;
        });
        self.loops.spawn(repeat_every(CONNECTIONS_UPKEEP, self.stop.subscribe(), move || {
            sender.sweep();
            std::future::ready(())
        }));
    }

    fn start_mails(&mut self, config: &Config, transport: Option<SmtpTransport>) {
        let Some((transport, smtp)) = transport.zip(config.smtp.as_ref()) else { return };
        if config.public_url.is_none() {
            let base = &self.services.settings.public_url;
            tracing::warn!(base, "invitation links use a local address; set CANDOR_PUBLIC_URL");
        }
        let mut stop = self.stop.subscribe();
        let mailer = Mailer::new(&self.services, Arc::new(transport), smtp.server.timeout);
        let stop_signal = async move { drop(stop.wait_for(|is_stopped| *is_stopped).await) };
        self.deliveries.spawn(mailer.run(stop_signal, DELIVERIES_GRACE));
    }

    /// Runs until a signal arrives or a server ends. Then lets requests, deliveries and background work finish
    /// within their time limits, and stops.
    ///
    /// # Errors
    /// [`CommandError::Io`] if a server ended without being stopped.
    pub(crate) async fn until_told_to_stop(mut self) -> Result<(), CommandError> {
        let ended_early = tokio::select! {
            name = self.signals.next() => {
                tracing::info!(signal = name, "stopping: requests and deliveries in progress finish first");
                None
            }
            Some(ended) = self.servers.join_next() => Some(ended),
        };
        self.readiness.set_draining();
        let ended_early = match ended_early {
            None => self.drain().await,
            ended => ended,
        };
        self.stop.send_replace(true);
        let deadline = Instant::now() + DELIVERIES_GRACE + RECORDS_GRACE + LOOPS_GRACE;
        let servers = &mut self.servers;
        // The servers have their own time limits; this one is for a server that exceeds them.
        let drain = timeout(REQUESTS_GRACE + Duration::from_secs(1), async {
            while servers.join_next().await.is_some() {}
        });
        let deliveries = &mut self.deliveries;
        let delivery_end =
            timeout(DELIVERIES_GRACE + RECORDS_GRACE, async { while deliveries.join_next().await.is_some() {} });
        let (drain, delivery_end) = tokio::join!(drain, delivery_end);
        if drain.is_err() {
            tracing::warn!("some requests did not finish before the shutdown; their connections are closed");
        }
        if delivery_end.is_err() {
            tracing::warn!(
                "cannot record some results of deliveries or mails before the shutdown; they are attempted again"
            );
        }
        records::end_background(&mut self.loops, LOOPS_GRACE, records::flush(&self.services), deadline).await;
        tracing::info!("stopped");
        match ended_early {
            None => Ok(()),
            Some(ended) => Err(to_error(ended)),
        }
    }

    /// Serves requests for the drain delay: load balancers see that this process is not ready, and clients are
    /// told to close connections. Then refuses new connections, but still answers clients that have just
    /// connected. Returns the result of a server that ended during the delay.
    async fn drain(&mut self) -> Option<Result<ServerEnd, JoinError>> {
        let listener = self.listener.take()?;
        if self.drain_delay.is_zero() {
            return None;
        }
        tokio::select! {
            () = sleep(self.drain_delay) => {}
            name = self.signals.next() => tracing::info!(signal = name, "the drain delay ends early"),
            Some(ended) = self.servers.join_next() => return Some(ended),
        }
        if let Err(error) = refuse_connections(&listener) {
            tracing::debug!(%error, "new connections may be reset");
        }
        // The socket stays open while this handle exists.
        drop(listener);
        sleep(LAST_REQUESTS).await;
        None
    }
}

/// Runs a server until it ends by itself or is stopped.
async fn until_stopped(
    server: impl Future<Output = io::Result<()>>,
    tell: impl Future<Output = ()>,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut server = std::pin::pin!(server);
    tokio::select! {
        ended = &mut server => return ended,
        _ = stop.wait_for(|is_stopped| *is_stopped) => {}
    }
    tokio::join!(server, tell).0
}

/// Repeats work at an interval until the stop.
async fn repeat_every<Fut: Future<Output = ()>>(
    interval: Duration,
    mut stop: watch::Receiver<bool>,
    work: impl Fn() -> Fut,
) {
    while timeout(interval, stop.wait_for(|is_stopped| *is_stopped)).await.is_err() {
        work().await;
    }
}

/// Stores the last uses of keys, request counts and SCIM requests. For workers (`sweeps`), also does all work that
/// falls due: search indexing, starts of objectives, reminders of keys, operational events, expired mails and
/// rows, and links of deleted identity providers.
async fn due_work(services: &Services, sweeps: bool, goes_on: impl Fn() -> bool) {
    records::flush(services).await;
    if sweeps {
        fill_search_index(services, &goes_on).await;
        match objective_autostart::due_objectives(services, &goes_on).await {
            Ok(0) => tracing::trace!("no objectives to start"),
            Ok(started) => tracing::info!(started, "started objectives at the beginning of their period"),
            Err(error) => tracing::warn!(%error, "cannot start objectives; the next sweep retries"),
        }
        match reminders::due_reminders(services, &goes_on).await {
            Ok(0) => tracing::trace!("no API key expires soon"),
            Ok(told) => tracing::info!(told, "notified org admins of API keys that expire soon"),
            Err(error) => {
                tracing::warn!(%error, "cannot notify org admins of expiring API keys; the next sweep retries")
            }
        }
        operational::fire_due_events(services, &goes_on).await;
        match mail::give_up_expired(services).await {
            Ok(0) => tracing::trace!("no mails to cancel"),
            Ok(given_up) => tracing::info!(given_up, "canceled mails of expired invitations"),
            Err(error) => tracing::warn!(%error, "cannot cancel expired invitation mails; the next sweep retries"),
        }
        removal::remove_provider_links(services, &goes_on).await;
        match sweep::run_once(services).await {
            Ok(0) => tracing::trace!("no expired data"),
            Ok(removed) => tracing::debug!(removed, "deleted expired data"),
            Err(error) => tracing::warn!(%error, "cannot delete expired data; the next sweep retries"),
        }
    }
}

async fn fill_search_index(services: &Services, goes_on: impl Fn() -> bool) {
    match search_index::fill(services, goes_on).await {
        Ok(0) => tracing::trace!("no unindexed data"),
        Ok(indexed) => tracing::info!(indexed, "indexed existing data for the search"),
        Err(error) => tracing::warn!(%error, "cannot index existing data for the search; the next sweep retries"),
    }
}

async fn index_pending_rows(services: &Services, goes_on: impl Fn() -> bool) {
    match search_index::index_pending(services, goes_on).await {
        Ok(indexed) => tracing::trace!(indexed, "indexed new data for the search"),
        Err(error) => tracing::warn!(%error, "cannot index new data for the search; retrying soon"),
    }
}
