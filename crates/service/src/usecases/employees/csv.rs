//! CSV upsert: loads the rows that a file refers to, decides all its rows together, and saves them piece by
//! piece (§4.3, decisions E).

mod load;
mod piece;
mod sync;
mod work;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use candor_domain::access::{AdminContext, Permission};
use candor_domain::fields::Reference;
use candor_domain::id::ConnectorKind;
use candor_domain::params::Params;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_people_csv::{
    self as csv, CsvFileError, File, Plan, PlanDisplay, Report, RowOutcome, UploadRequest, UploadRowError,
};
use candor_port_storage::StorageExt;
use candor_provisioning::Connector;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};

use crate::change::commit::{SavedPiece, too_wide};
use crate::context::error::Error;
use crate::context::list::MAX_PAGE_BYTES;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use load::LoadedRows;

/// Number of rows saved in one commit: few, so that other writers do not wait long. `fan_out::DELIVERIES` may
/// reduce the number if subscriptions want the events.
pub const PIECE: usize = 150;
/// Size of the people, as bytes of JSON, after which a commit takes no more rows. A commit writes each person several
/// times: as a row, in events and in the audit log.
const COMMIT_BYTES: usize = 1024 * 1024;
/// Number of consecutive lost commits after which the upload is given up. Saved pieces stay, and sending the
/// file again continues from there.
const STALLS: usize = 8;
/// Number of lost commits after which planning takes the instance's lock for changes of the reporting tree.
const PATIENT_STALLS: usize = 2;
/// Time for which an upload waits for a concurrent one with the same idempotency key (decision B2).
const TWIN_WAIT: Duration = Duration::from_secs(10);
/// Interval of the checks for the reply of the concurrent upload.
const TWIN_PAUSE: Duration = Duration::from_millis(100);

/// `POST /employees/csv`: applies an uploaded file of people, or plans it for a dry run.
///
/// # Errors
/// An unreadable file, invalid parameters, a caller without write access to people, a connector that is unknown
/// or not allowed for the caller; see [`Error`]. Rows that fail are not an error: the response lists them.
pub async fn upsert(context: RequestContext, params: Params, body: Bytes) -> Result<Reply, Error> {
    let context = &context;
    if let Some(reply) = context.services.find_replay(context).await? {
        return Ok(reply);
    }
    let request = params.parse(UploadRequest::read)?;
    let ignored_columns = request.ignore_columns;
    // A file of some size waits for a turn, which bounds memory and threads: a parsed file takes some five times its
    // bytes, the stored people of its rows take up to 32 MiB, and work in pieces holds a thread.
    let turn = context.services.uploads.turn(context.caller.tenant, &body).await?;
    let read = move |progress: &mut csv::CellCounter<'_>| {
        let mut file = File::read_in_pieces(&body, progress)?;
        file.ignore_columns(&ignored_columns).map_err(CsvFileError::Invalid)?;
        Ok(file)
    };
    let file = match work::run(context, turn.is_some(), read).await? {
        Ok(file) => file,
        Err(why) => {
            if !request.dry_run {
                sync::record_refused(context, request.connector.as_deref(), &why).await;
            }
            return Err(unreadable_file_error(why));
        }
    };
    if request.connector.is_some() {
        context.caller.require_admin(AdminContext::Settings)?;
    }
    context.authorize()?;
    let connector = connector(context, request.connector.as_deref()).await?;
    let settings = UploadSettings {
        is_large: turn.is_some(),
        file,
        connector,
        clear_empty: request.clear_empty,
        is_admin: context.caller.is_data_admin(),
        shows_stored: context.caller.scopes.has(Permission::EmployeesRead),
    };
    let upload = Upload { context, asked: Arc::new(settings) };
    let reply = if request.dry_run { upload.preview().await } else { upload.carry_out().await };
    drop(turn);
    reply
}

fn unreadable_file_error(file: CsvFileError) -> Error {
    match file {
        CsvFileError::Invalid(problems) => problems.into(),
        CsvFileError::Malformed(message) => Error::Malformed(message),
    }
}

/// Converts the refusal of a planned row to an error. Planning accepted the row with the same values, so the refusal is
/// a defect.
fn refused_later(rejection: &UploadRowError) -> Error {
    Error::Bug(format!("a row that was planned is refused: {:?}, {}", rejection.code(), rejection.message()))
}

async fn connector(context: &RequestContext, text: Option<&str>) -> Result<Option<Connector>, Error> {
    let Some(text) = text else { return Ok(None) };
    let reference: Reference<ConnectorKind> = Reference { text: text.to_owned(), id: text.parse().ok() };
    let matching_connector = match reference.id {
        Some(id) => context.services.store.row::<Connector>(context.caller.tenant, id).await?,
        None => None,
    };
    let unknown = || DomainError::unprocessable("connector_id", reference.not_found());
    let connector = matching_connector.ok_or_else(unknown)?.value;
    connector.require_uploads()?;
    Ok(Some(connector))
}

/// Parameters and file of an upload.
struct UploadSettings {
    file: File,
    /// `true` if the upload has a turn of large uploads, so that its work may wait between two pieces.
    is_large: bool,
    connector: Option<Connector>,
    clear_empty: bool,
    is_admin: bool,
    shows_stored: bool,
}

impl UploadSettings {
    fn options(&self, at: Timestamp) -> csv::PlanOptions<'_> {
        let Self { connector, clear_empty, is_admin, .. } = self;
        let connector = connector.as_ref();
        csv::PlanOptions { clear_empty: *clear_empty, is_admin: *is_admin, connector, at }
    }
}

/// Progress of an upload: the saved rows, and the size of the next piece.
struct UploadProgress {
    /// Outcomes of the saved rows.
    ends: HashMap<usize, RowOutcome>,
    /// Maximum number of rows of the next piece. Moves of large teams reduce it.
    most_rows: usize,
}

/// An upload in progress.
struct Upload<'a> {
    context: &'a RequestContext,
    asked: Arc<UploadSettings>,
}

impl<'a> Upload<'a> {
    async fn carry_out(&self) -> Result<Reply, Error> {
        let mut progress = UploadProgress { ends: HashMap::new(), most_rows: PIECE };
        let (mut stalls, mut stalled_at) = (0, Instant::now());
        loop {
            let turn = if stalls < PATIENT_STALLS { None } else { Some(self.turn().await) };
            let now = self.context.services.clock.now();
            let (loaded, plan) = self.plan(progress.ends.keys().copied().collect(), now).await?;
            let (count_before, rows_before) = (progress.ends.len(), progress.most_rows);
            if let Some(reply) = self.apply(&loaded, plan, &mut progress, turn, now).await? {
                return Ok(reply);
            }
            if progress.ends.len() > count_before || progress.most_rows < rows_before {
                (stalls, stalled_at) = (0, Instant::now());
                continue;
            }
            stalls += 1;
            self.after_stall(stalls, stalled_at).await?;
            if let Some(reply) = self.context.services.find_replay(self.context).await? {
                return Ok(reply);
            }
        }
    }

    /// Pauses or gives up after too many consecutive stalls. `stalled_at` is the time of the last progress.
    ///
    /// A concurrent upload with the same idempotency key may win every time. It stores its reply with its last
    /// piece. Giving up before that would return 503 instead of a replay or a conflict.
    async fn after_stall(&self, stalls: usize, stalled_at: Instant) -> Result<(), Error> {
        if stalls < STALLS {
            return Ok(());
        }
        if self.context.idempotency.is_none() || stalled_at.elapsed() >= TWIN_WAIT {
            return Err(Error::Contended);
        }
        sleep(TWIN_PAUSE).await;
        Ok(())
    }

    async fn turn(&self) -> OwnedMutexGuard<()> {
        self.context.services.move_lock(self.context.caller.tenant).await
    }

    /// Loads the rows that the file refers to, and plans all rows of the file except the `applied` ones.
    async fn plan(&self, applied: HashSet<usize>, at: Timestamp) -> Result<(Arc<LoadedRows>, Plan), Error> {
        let request = Arc::clone(&self.asked);
        let keys = self.run(move |progress| request.file.lookup_keys(progress)).await?;
        let loaded_rows = Arc::new(load::load(&self.context.services, self.context.caller.tenant, &keys).await?);
        let (request, known, ids) =
            (Arc::clone(&self.asked), Arc::clone(&loaded_rows), Arc::clone(&self.context.services.ids));
        let plan = move |progress: &mut csv::CellCounter<'_>| {
            let options = request.options(at);
            csv::plan_in_pieces(&request.file, &known.known, &applied, &options, &mut || ids.ulid(at), progress)
        };
        Ok((loaded_rows, self.run(plan).await?))
    }

    /// Returns the reply of a dry run.
    async fn preview(&self) -> Result<Reply, Error> {
        let now = self.context.services.clock.now();
        let (loaded, plan) = self.plan(HashSet::new(), now).await?;
        let names = load::names(&self.context.services, self.context.caller.tenant, &loaded.known).await?;
        let settings = Arc::clone(&self.asked);
        let body = self.run(move |progress| {
            let UploadSettings { file, shows_stored, .. } = &*settings;
            let report = Report::from_outcomes(file, plan.outcomes.iter()).with_warnings(&plan.warnings);
            let max_bytes = MAX_PAGE_BYTES.saturating_sub(csv::json_bytes(&report));
            let display = PlanDisplay { names, shows_stored: *shows_stored, max_bytes };
            let rows = plan.rows(file, &loaded.known, &settings.options(now), display, progress);
            let (rows, plan_has_more) = rows.map_err(|error| refused_later(&error))?;
            let report = Report { plan: Some(rows), plan_has_more, ..report };
            work::render(&report, progress)
        });
        Ok(Reply::ok(body.await??, None))
    }

    /// Runs work on the file, in pieces if the upload is large.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut csv::CellCounter<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        work::run(self.context, self.asked.is_large, work).await
    }

    /// Returns the report of a plan, also rendered.
    async fn report(&self, plan: &Arc<Plan>, ends: &HashMap<usize, RowOutcome>) -> Result<(Report, Bytes), Error> {
        let (settings, plan, ends) = (Arc::clone(&self.asked), Arc::clone(plan), ends.clone());
        let report = self.run(move |progress| {
            let outcomes = plan.outcomes.iter().enumerate().map(|(at, outcome)| ends.get(&at).unwrap_or(outcome));
            let report = Report::from_outcomes(&settings.file, outcomes).with_warnings(&plan.warnings);
            let body = work::render(&report, progress)?;
            Ok((report, body))
        });
        report.await?
    }

    /// Saves a plan piece by piece. Returns `None` if another change was committed first, so that the rest must
    /// be planned again. The last piece stores the reply for retries. A piece with too many reporting lines is planned
    /// again with half as many rows.
    async fn apply(
        &self,
        loaded: &LoadedRows,
        plan: Plan,
        progress: &mut UploadProgress,
        mut turn: Option<OwnedMutexGuard<()>>,
        at: Timestamp,
    ) -> Result<Option<Reply>, Error> {
        let plan = Arc::new(plan);
        let (report, body) = self.report(&plan, &progress.ends).await?;
        let reply = Reply::ok(body, None);
        if plan.steps.is_empty() {
            return self.changes_nothing(&report, reply, at).await;
        }
        let mut pieces = piece::PieceBuilder::new(self, loaded, &plan, progress.most_rows, at);
        let mut next = pieces.next().await?;
        while let Some(mut piece) = next {
            if piece.is_last {
                piece.change.replay = self.context.services.seal_replay(self.context, &reply, at)?;
                if let Some(sync_change) = self.connector_change_set(&report, at).await? {
                    piece.change.append(sync_change);
                }
            }
            let _turn = match turn.take() {
                None if piece.moves => Some(self.turn().await),
                held => held,
            };
            let commit = self.context.save_piece(piece.change);
            // The next piece is built while this one is saved.
            let (saved, made) = tokio::join!(commit, pieces.next());
            match saved? {
                SavedPiece::Saved => {}
                SavedPiece::Replayed(earlier) => return Ok(Some(earlier)),
                SavedPiece::Overtaken => return Ok(None),
                SavedPiece::TooWide if piece.steps.len() > 1 => {
                    progress.most_rows = piece.steps.len() / 2;
                    return Ok(None);
                }
                SavedPiece::TooWide => return Err(too_wide()),
            }
            progress.ends.extend(piece.steps.iter().map(|step| (step.row, plan.outcomes[step.row].clone())));
            next = made?;
        }
        Ok(Some(reply))
    }
}
