//! Moves with more reporting lines than one commit writes (decision D1).

use candor_domain::people::{Employee, MAX_LINES_AT_ONCE};
use candor_port_storage::{CommitError, ReportingLineChange, Row, Write};

use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new(wide_move_is_completed_or_refused_as_a_whole)]
}

/// Moves a team with more reporting lines than one commit writes. A store writes these lines in pieces, or refuses
/// the move as a whole.
async fn wide_move_is_completed_or_refused_as_a_whole(world: CaseContext) {
    let mut managers = vec![world.make.employee()];
    for _ in 1..50 {
        let manager_id = managers.last().map(|manager| manager.id);
        managers.push(Employee { manager_id, ..world.make.employee() });
    }
    let lead = world.make.employee();
    let team: Vec<_> = (0..MAX_LINES_AT_ONCE as usize / managers.len())
        .map(|_| Employee { manager_id: Some(lead.id), ..world.make.employee() })
        .collect();
    let (top, bottom, member) = (managers[0].id, managers[managers.len() - 1].id, team[0].id);
    let everyone: Vec<_> = managers.iter().chain([&lead]).chain(&team).cloned().map(joins).collect();
    world.save(everyone).await;
    let move_below_managers = async |id| {
        let person = world.employee(id).await;
        let state = Employee { manager_id: Some(bottom), ..person.value };
        let lines = ReportingLineChange { seen: Some(world.tree().await) };
        world.try_save(Write::employee(&Row::at_version(state, person.version), Some(lines))).await
    };
    let result = move_below_managers(lead.id).await;
    let expected_count = match result {
        Ok(()) => managers.len() + team.len(),
        Err(CommitError::TooWide) => managers.len() - 1,
        Err(other) => panic!("{other}"),
    };
    assert_eq!(world.employee(lead.id).await.value.manager_id, result.is_ok().then_some(bottom));
    assert_eq!(world.store.people_below(world.tenant, top).await.unwrap().len(), expected_count);
    assert_eq!(world.store.people_below(world.tenant, lead.id).await.unwrap().len(), team.len());
    // A single member moves, also on a store that refused to move the team.
    assert!(world.moves(member, Some(bottom)).await);
    let people_below = world.store.people_below(world.tenant, bottom).await.unwrap();
    assert!(people_below.contains(&member), "{} people", people_below.len());
}
