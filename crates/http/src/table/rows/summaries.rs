//! What is said about people over a time, and what is found of everything that was said.

use candor_domain::access::Permission;

use crate::openapi::queries;
use crate::routes::{search, summaries};
use crate::table::Access::{Permission as Needs, ReadsTypes};
use crate::table::Route;

pub(super) const ROUTES: &[Route] = &[
    // Summaries
    Route::get("/summaries", Needs(Permission::SummariesRead), summaries::list)
        .named("listSummaries", "List summaries")
        .with(&queries::SUMMARIES)
        .answers("SummaryList"),
    Route::post("/summaries", Needs(Permission::SummariesWrite), summaries::create)
        .named("createSummary", "Write a draft of a summary")
        .takes("SummaryCreate")
        .creates("Summary"),
    Route::get("/summaries/{id}", Needs(Permission::SummariesRead), summaries::get)
        .named("getSummary", "Get a summary, also an archived one")
        .with(&queries::SUMMARY)
        .answers("Summary"),
    Route::patch("/summaries/{id}", Needs(Permission::SummariesWrite), summaries::update)
        .named("updateSummary", "Update a summary that is not approved yet")
        .takes("SummaryUpdate")
        .answers("Summary"),
    Route::post("/summaries/{id}/submit", Needs(Permission::SummariesWrite), summaries::submit)
        .named("submitSummary", "Submit a summary for review")
        .answers("Summary"),
    Route::post("/summaries/{id}/approve", Needs(Permission::SummariesWrite), summaries::approve)
        .named("approveSummary", "Approve a summary")
        .answers("Summary"),
    Route::post("/summaries/{id}/return", Needs(Permission::SummariesWrite), summaries::send_back)
        .named("returnSummary", "Send a summary back to be written again, with the reason")
        .takes("SummaryReturn")
        .answers("Summary"),
    Route::post("/summaries/{id}/share", Needs(Permission::SummariesWrite), summaries::share)
        .named("shareSummary", "Share a summary with the employee")
        .answers("Summary"),
    Route::post("/summaries/{id}/feedback", Needs(Permission::SummariesWrite), summaries::feedback)
        .named("giveSummaryFeedback", "Give the employee's feedback on a summary")
        .may_take("SummaryFeedback")
        .answers("Summary"),
    Route::post("/summaries/{id}/archive", Needs(Permission::SummariesWrite), summaries::archive)
        .named("archiveSummary", "Archive a summary")
        .answers("Summary"),
    // Search
    Route::get("/search", ReadsTypes, search::search)
        .named("search", "Find what was written by its words")
        .with(&queries::SEARCH)
        .answers("SearchHitList"),
];
