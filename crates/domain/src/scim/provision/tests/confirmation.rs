//! Adoptions that an admin confirms.

use super::*;

#[test]
fn adoption_of_an_admin_or_another_address_is_confirmed() {
    let hr = hr(5);
    let user = user(r#","externalId":"R1""#);
    let same = Employee { email: "Person1@example.com".to_owned(), ..employee(1) };
    let admin = Employee { role: Role::OrgAdmin, ..same.clone() };
    let other = Employee { email: "other@example.com".to_owned(), ..same.clone() };
    assert!(input(&hr, &user, Some(&same)).decide().is_ok(), "the same address in another case");
    let person_without_id = hr.in_charge_of(admin.clone());
    let managed_person = Employee { external_id: Some("R1".to_owned()), ..person_without_id.clone() };
    assert!(input(&hr, &user, Some(&managed_person)).decide().is_ok(), "not an adoption");
    let new_admin = Employee { role: Role::OrgAdmin, ..other.clone() };
    let message = |person| input(&hr, &user, Some(person)).decide().unwrap_err().issue.unwrap().message;
    assert_ne!(message(&other), message(&new_admin), "confirming a person must not confirm an org admin");
    let absent_person = Employee { status: Status::Deactivated, deactivated_at: Some(AT), ..other.clone() };
    let absent_input = input(&hr, &user, Some(&absent_person));
    let messages = [WriteKind::Create, WriteKind::Change].map(|kind| {
        let adoption_input = ProvisioningInput { kind, ..absent_input.clone() };
        adoption_input.decide().unwrap_err().issue.unwrap().message
    });
    assert_ne!(messages[0], messages[1], "confirming an adoption must not confirm a return");
    for person in [admin, other, person_without_id, new_admin] {
        for kind in [WriteKind::Create, WriteKind::Replace, WriteKind::Change] {
            let adoption_input = ProvisioningInput { kind, ..input(&hr, &user, Some(&person)) };
            let draft = *adoption_input.decide().unwrap_err().issue.unwrap();
            assert_eq!(draft.kind, IssueKind::AdoptionUnconfirmed);
            let open = SyncIssue::open(Id::from_ulid(Ulid(9)), hr.id, draft, AT);
            let answer = open.resolve(AT).unwrap();
            let elsewhere = SyncIssue { message: answer.message.replace("person1", "person2"), ..answer.clone() };
            let foreign = SyncIssue { connector_id: ConnectorId::from_ulid(Ulid(6)), ..answer.clone() };
            for (issue, is_adopted) in [(open, false), (elsewhere, false), (foreign, false), (answer, true)] {
                let issues = [issue];
                let confirmed_input = ProvisioningInput { issues: &issues, ..adoption_input.clone() };
                assert_eq!(confirmed_input.decide().is_ok(), is_adopted, "{kind:?} {issues:?}");
            }
        }
    }
}
