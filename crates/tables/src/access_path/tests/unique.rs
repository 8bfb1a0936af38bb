//! Lists by a unique value.

use super::*;

#[test]
fn row_by_a_unique_value_has_an_index_with_any_other_filter() {
    let filter = people::Filter {
        email: Some("a@example.com".to_owned()),
        roles: vec![people::Role::OrgAdmin],
        updated_at: CHANGED,
        ..Default::default()
    };
    assert_eq!(slow::<Employee>(|sort| rows::employees::list(&filter, sort, &PAGE)), []);
    let in_order = |sort| rows::employees::list(&filter, sort, &PAGE);
    assert!(Employee::sorts().all(|(_, sort)| in_order(sort).parts().iter().all(has_one_row)));
    let filter = people::Filter { ids: vec![EmployeeId::from_bytes([1; 16])], email: None, ..filter };
    assert_eq!(slow::<Employee>(|sort| rows::employees::list(&filter, sort, &PAGE)), []);
    let filter = department::Filter { name: Some("x".to_owned()), archived: Archived::All, ..Default::default() };
    assert_eq!(slow::<Department>(|sort| rows::departments::list(&filter, sort, &PAGE)), []);
}
