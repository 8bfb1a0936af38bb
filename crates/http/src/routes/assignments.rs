//! Assignments and their submissions (decision G).

use candor_domain::access::Permission;
use candor_service::{Shell, assignments};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::Permission as Needs;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/assignments", Needs(Permission::AssignmentsRead), list)
        .named("listAssignments", "List assignments")
        .with(&queries::ASSIGNMENTS)
        .answers("AssignmentList"),
    Route::post("/assignments", Needs(Permission::AssignmentsWrite), create)
        .named("createAssignment", "Ask reviewers for feedback about a person")
        .takes("AssignmentCreate")
        .creates("Assignment"),
    Route::get("/assignments/{id}", Needs(Permission::AssignmentsRead), get)
        .named("getAssignment", "Get an assignment with its submissions")
        .answers("Assignment"),
    Route::post("/assignments/{id}/submissions", Needs(Permission::AssignmentsWrite), submit)
        .named("submitFeedback", "Submit the feedback of one reviewer")
        .takes("SubmissionCreate")
        .answers("Assignment"),
    Route::post("/assignments/{id}/cancel", Needs(Permission::AssignmentsWrite), cancel)
        .named("cancelAssignment", "Cancel an open assignment")
        .answers("Assignment"),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::create(shell, &it.call, it.body).await })
}

fn cancel<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::cancel(shell, &it.call, it.id()?).await })
}

fn submit<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::submit(shell, &it.call, it.id()?, it.body).await })
}
