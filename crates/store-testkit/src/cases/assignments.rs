//! Storage of assignments with their submissions, and their lists per caller.

use candor_domain::assignment::{Assignment, Filter, SubmissionStatus};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::visibility::Viewer;
use candor_port_storage::{Row, StorageExt, Version, Write};
use candor_tables::rows;

use super::rows::name_of_result;
use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(assignment_round_trips_with_submissions),
        Case::new(assignment_is_listed_for_requester_and_reviewers),
        Case::new(corrupt_submission_names_its_column),
    ]
}

/// Saves an assignment: a requester asks two reviewers about a fourth person.
async fn save_assignment(world: &CaseContext) -> Assignment {
    let [about, requester, one, other] =
        [world.hire().await.id, world.hire().await.id, world.hire().await.id, world.hire().await.id];
    let it = Assignment { requester_id: Some(requester), ..world.make.assignment(about, vec![one, other]) };
    world.save(vec![Write::put(&Row::new(it.clone()))]).await;
    it
}

async fn read_assignment(world: &CaseContext, assignment: &Assignment) -> Assignment {
    world.store.row::<Assignment>(world.tenant, assignment.id).await.unwrap().unwrap().value
}

async fn assignment_round_trips_with_submissions(world: CaseContext) {
    let assignment_before = save_assignment(&world).await;
    assert_eq!(read_assignment(&world, &assignment_before).await, assignment_before);
    let mut assignment_after =
        Assignment { submitted_count: 1, due_date: Some(world.make.tick().date()), ..assignment_before.clone() };
    assignment_after.submissions[1].status = SubmissionStatus::Submitted;
    assignment_after.submissions[1].observation_ids = vec![world.make.id(), world.make.id()];
    assignment_after.submissions[1].submitted_at = Some(world.make.tick());
    world.save(vec![Write::put(&Row::at_version(assignment_after.clone(), Version::FIRST))]).await;
    assert_eq!(read_assignment(&world, &assignment_before).await, assignment_after);
}

async fn assignment_is_listed_for_requester_and_reviewers(world: CaseContext) {
    let it = save_assignment(&world).await;
    let count_for = async |filter: Filter, viewer: Viewer| {
        let page = PageRequest { limit: 10, after: None };
        let list = rows::assignments::list(&filter, viewer, Sort::ascending_by(SortBy::DueBy), &page);
        world.store.page(world.tenant, list).await.unwrap().items.len()
    };
    let people = [it.employee_id, it.requester_id.unwrap(), it.reviewer_ids[0], it.reviewer_ids[1]];
    let expected_counts = |counts: [usize; 4]| people.into_iter().zip(counts);
    for (person, count) in expected_counts([0, 1, 1, 1]) {
        assert_eq!(count_for(Filter::default(), Viewer::Person(person)).await, count);
    }
    for (person, count) in expected_counts([0, 0, 1, 1]) {
        let of_reviewer = Filter { reviewer_id: Some(person), ..Filter::default() };
        assert_eq!(
            count_for(of_reviewer.clone(), Viewer::Everything).await,
            count,
            "the requester is no reviewer"
        );
        assert_eq!(count_for(of_reviewer, Viewer::Person(people[1])).await, count);
    }
    for other in [world.in_other_tenant(), world.test_environment()] {
        let page = PageRequest { limit: 10, after: None };
        let list = rows::assignments::list(
            &Filter::default(),
            Viewer::Everything,
            Sort::ascending_by(SortBy::DueBy),
            &page,
        );
        assert_eq!(other.store.page(other.tenant, list).await.unwrap().items, []);
    }
}

async fn corrupt_submission_names_its_column(world: CaseContext) {
    let it = save_assignment(&world).await;
    for spoilt in ["spoilt", "[1]", r#"[{"reviewer":"x","observations":[],"at":0}]"#] {
        world.spoil(&format!("UPDATE assignments SET submissions = '{spoilt}'")).await;
        let read = world.store.row::<Assignment>(world.tenant, it.id).await;
        assert_eq!(name_of_result(read), ("assignments", "submissions"), "{spoilt}");
    }
}
