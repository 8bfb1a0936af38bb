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
    let link = ScimLink { external_id: Some("R1".to_owned()), ..creation_link(&hr, &user) };
    let linked_input = ProvisioningInput { link: Some(&link), ..input(&hr, &user, Some(&managed_person)) };
    assert!(linked_input.decide().is_ok(), "not an adoption");
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

/// Returns the link of a person that the connector created.
fn creation_link(hr: &Connector, user: &ScimUser) -> ScimLink {
    input(hr, user, None).decide().unwrap().link
}

#[test]
fn another_id_of_the_link_of_an_admin_is_confirmed() {
    let hr = hr(5);
    let id = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let table = [
        // id of the link, of the person, of the request, is confirmed first
        ("", "", "", false),
        ("R1", "R1", "R1", false),
        ("R1", "HR7", "R1", false),
        ("R1", "R1", "", false),
        ("", "", "R1", true),
        ("", "HR7", "R1", true),
        ("", "R1", "R1", true),
        ("R1", "R1", "R2", true),
        ("R1", "HR7", "R2", true),
        ("R1", "", "R2", true),
        ("R1", "", "R1", true),
    ];
    for (linked_id, own_id, requested_id, is_confirmed) in table {
        for kind in [WriteKind::Create, WriteKind::Replace, WriteKind::Change] {
            for role in [Role::Employee, Role::Manager, Role::OrgAdmin] {
                let members = id(requested_id).map_or_else(String::new, |id| format!(r#","externalId":"{id}""#));
                let user = user(&members);
                let person = hr.in_charge_of(Employee {
                    role,
                    email: "person1@example.com".to_owned(),
                    external_id: id(own_id),
                    ..employee(1)
                });
                let link = ScimLink { external_id: id(linked_id), ..creation_link(&hr, &user) };
                let change = ProvisioningInput { kind, link: Some(&link), ..input(&hr, &user, Some(&person)) };
                let case = format!("{linked_id} {own_id} {requested_id} {kind:?} {role:?}");
                let needs_confirmation = is_confirmed && role == Role::OrgAdmin;
                assert_eq!(change.decide().is_err(), needs_confirmation, "{case}");
                if let Err(ProvisioningError { issue: Some(draft), .. }) = change.decide() {
                    assert!(draft.message.contains(&format!("`{requested_id}`")), "{case}");
                }
            }
        }
    }
}

#[test]
fn issue_names_all_that_its_request_takes_over() {
    let (hr, user) = (hr(5), user(r#","externalId":"R2","active":true"#));
    let absent = Employee {
        role: Role::OrgAdmin,
        status: Status::Deactivated,
        deactivated_at: Some(AT),
        email: "other@example.com".to_owned(),
        ..employee(1)
    };
    for person in [hr.in_charge_of(absent.clone()), absent] {
        let message = input(&hr, &user, Some(&person)).decide().unwrap_err().issue.unwrap().message;
        for part in ["`person1@example.com`", "would become active", "`R2`", "org admin"] {
            assert!(message.contains(part), "{part} in {message}");
        }
    }
}
