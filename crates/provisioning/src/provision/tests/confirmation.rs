//! Adoptions that an admin confirms.

use super::*;

#[test]
fn adoption_of_an_admin_or_another_address_is_confirmed() {
    let hr = hr(5);
    let user = user(r#","externalId":"R1""#);
    let person_at_same_address = Employee { email: "Person1@example.com".to_owned(), ..employee(1) };
    let admin = Employee { role: Role::OrgAdmin, ..person_at_same_address.clone() };
    let person_at_other_address =
        Employee { email: "other@example.com".to_owned(), ..person_at_same_address.clone() };
    assert!(input(&hr, &user, Some(&person_at_same_address)).decide().is_ok(), "the same address in another case");
    let person_without_id = hr.in_charge_of(admin.clone());
    let managed_person = Employee { external_id: Some("R1".to_owned()), ..person_without_id.clone() };
    assert!(input(&hr, &user, Some(&managed_person)).decide().is_ok(), "not an adoption");
    let new_admin = Employee { role: Role::OrgAdmin, ..person_at_other_address.clone() };
    let message = |person| input(&hr, &user, Some(person)).decide().unwrap_err().issue.unwrap().message;
    assert_ne!(
        message(&person_at_other_address),
        message(&new_admin),
        "confirming a person must not confirm an org admin"
    );
    let absent_person =
        Employee { status: Status::Deactivated, deactivated_at: Some(AT), ..person_at_other_address.clone() };
    let absent_input = input(&hr, &user, Some(&absent_person));
    let messages = [WriteKind::Create, WriteKind::Change].map(|kind| {
        let adoption_input = ProvisioningInput { kind, ..absent_input.clone() };
        adoption_input.decide().unwrap_err().issue.unwrap().message
    });
    assert_ne!(messages[0], messages[1], "confirming an adoption must not confirm a return");
    for person in [admin, person_at_other_address, person_without_id, new_admin] {
        for kind in [WriteKind::Create, WriteKind::Replace, WriteKind::Change] {
            let adoption_input = ProvisioningInput { kind, ..input(&hr, &user, Some(&person)) };
            let draft = *adoption_input.decide().unwrap_err().issue.unwrap();
            assert_eq!(draft.kind, IssueKind::AdoptionUnconfirmed);
            let open_issue = SyncIssue::open(Id::from_ulid(Ulid(9)), hr.id, draft, AT);
            let resolved_issue = open_issue.resolve(AT).unwrap();
            let elsewhere = SyncIssue {
                message: resolved_issue.message.replace("person1", "person2"),
                ..resolved_issue.clone()
            };
            let foreign = SyncIssue { connector_id: ConnectorId::from_ulid(Ulid(6)), ..resolved_issue.clone() };
            for (issue, is_adopted) in
                [(open_issue, false), (elsewhere, false), (foreign, false), (resolved_issue, true)]
            {
                let issues = [issue];
                let confirmed_input = ProvisioningInput { issues: &issues, ..adoption_input.clone() };
                assert_eq!(confirmed_input.decide().is_ok(), is_adopted, "{kind:?} {issues:?}");
            }
        }
    }
}
