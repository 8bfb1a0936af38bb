//! Summaries (decisions G).

use candor_domain::access::Permission;
use candor_domain::summary::ActionKind;
use candor_service::{Shell, summaries};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::Permission as Needs;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/summaries", Needs(Permission::SummariesRead), list)
        .named("listSummaries", "List summaries")
        .with(&queries::SUMMARIES)
        .answers("SummaryList"),
    Route::post("/summaries", Needs(Permission::SummariesWrite), create)
        .named("createSummary", "Write a draft of a summary")
        .takes("SummaryCreate")
        .creates("Summary"),
    Route::get("/summaries/{id}", Needs(Permission::SummariesRead), get)
        .named("getSummary", "Get a summary, also an archived one")
        .with(&queries::SUMMARY)
        .answers("Summary"),
    Route::patch("/summaries/{id}", Needs(Permission::SummariesWrite), update)
        .named("updateSummary", "Update a summary that is not approved yet")
        .takes("SummaryUpdate")
        .answers("Summary"),
    Route::post("/summaries/{id}/submit", Needs(Permission::SummariesWrite), submit)
        .named("submitSummary", "Submit a summary for review")
        .answers("Summary"),
    Route::post("/summaries/{id}/approve", Needs(Permission::SummariesWrite), approve)
        .named("approveSummary", "Approve a summary")
        .answers("Summary"),
    Route::post("/summaries/{id}/return", Needs(Permission::SummariesWrite), send_back)
        .named("returnSummary", "Send a summary back to be written again, with the reason")
        .takes("SummaryReturn")
        .answers("Summary"),
    Route::post("/summaries/{id}/share", Needs(Permission::SummariesWrite), share)
        .named("shareSummary", "Share a summary with the employee")
        .answers("Summary"),
    Route::post("/summaries/{id}/feedback", Needs(Permission::SummariesWrite), feedback)
        .named("giveSummaryFeedback", "Give the employee's feedback on a summary")
        .may_take("SummaryFeedback")
        .answers("Summary"),
    Route::post("/summaries/{id}/archive", Needs(Permission::SummariesWrite), archive)
        .named("archiveSummary", "Archive a summary")
        .answers("Summary"),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::get(shell, &it.call, it.id()?, it.params).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::update(shell, &it.call, it.id()?, it.body).await })
}

fn submit<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Submit)
}

fn approve<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Approve)
}

fn send_back<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Return)
}

fn share<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Share)
}

fn feedback<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Feedback)
}

fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Archive)
}

fn act<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>, what: ActionKind) -> Work<'a> {
    Box::pin(async move { summaries::act(shell, &it.call, it.id()?, what, it.body).await })
}
