//! Links between people and the accounts that an identity provider sends over SCIM.

use candor_domain::id::{ConnectorId, EmployeeId};
use candor_domain::json::{Object, Value};
use candor_domain::text::address_key;
use candor_domain::time::Timestamp;
use candor_scim::UserDocument;
use serde::Serialize;

/// Length of the longest `userName` and `externalId`, in characters. Unique indexes hold both.
pub const LINK_TEXT_CHARS: usize = 500;

/// Attributes of an account that no field of a person holds, as they are stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ExtraAttributes {
    /// The attributes, by name.
    Known(Object),
    /// A stored text that no parser accepts, because it nests too deeply: it was written before the bound of §8. It is
    /// kept until a request replaces it, and the person has no extra attributes until then.
    Unreadable(String),
}

impl ExtraAttributes {
    /// Reads the attributes from their stored text.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        serde_json::from_str(&text).map_or(Self::Unreadable(text), Self::Known)
    }

    /// Returns the attributes. Empty if they are unreadable.
    #[must_use]
    pub fn document(&self) -> UserDocument {
        match self {
            Self::Known(attributes) => UserDocument::from_stored(attributes.clone()),
            Self::Unreadable(_) => UserDocument::default(),
        }
    }

    /// Returns `true` if both have the same attributes, in any order.
    pub(crate) fn is_equal(&self, other: &Self) -> bool {
        let canonical = |attributes: &Object| Value::Object(attributes.clone()).canonical();
        match (self, other) {
            (Self::Known(one), Self::Known(two)) => canonical(one) == canonical(two),
            (Self::Known(_) | Self::Unreadable(_), _) => self == other,
        }
    }
}

impl From<UserDocument> for ExtraAttributes {
    fn from(document: UserDocument) -> Self {
        Self::Known(document.to_object())
    }
}

/// The link of a person to their account at an identity provider. A person has at most one link.
///
/// The link stays when the provider removes the account, so that a later account of the person gets the same id.
/// Its version changes with every change that the provider makes to the person.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of the others say everything")]
pub struct ScimLink {
    /// Id of the person.
    pub id: EmployeeId,
    pub connector_id: ConnectorId,
    /// `userName`, as the provider sent it.
    pub user_name: String,
    /// `externalId`, as the provider sent it.
    pub external_id: Option<String>,
    /// Reference to a manager who does not exist yet: an `externalId`, an id of a person or an e-mail address.
    /// `None` if the manager is known, or if there is none.
    pub manager_ref: Option<String>,
    /// Attributes that no field of a person holds. Responses repeat them.
    pub extra: ExtraAttributes,
    pub linked_at: Timestamp,
    /// Time of the last change that the provider made to the person.
    pub updated_at: Timestamp,
    /// Time of the last deactivation by the provider. Kept when the person returns.
    pub deactivated_at: Option<Timestamp>,
    /// Time at which the provider removed the account, or a release ended the link.
    pub removed_at: Option<Timestamp>,
}

impl ScimLink {
    /// Returns the value by which a link of a connector is found by its `userName`. The name may be an e-mail
    /// address, and is compared as one.
    #[must_use]
    pub fn user_name_key(connector: ConnectorId, user_name: &str) -> String {
        format!("{connector}:{}", address_key(user_name))
    }

    /// Returns the current [`user_name_key`](Self::user_name_key) of a link that was stored with an older form of the
    /// key.
    #[must_use]
    pub fn current_user_name_key(user_name: &str, stored_key: &str) -> String {
        let connector = stored_key.split_once(':').map_or("", |(connector, _)| connector);
        format!("{connector}:{}", address_key(user_name))
    }

    /// Returns the value by which a link of a connector is found by its `externalId`.
    #[must_use]
    pub fn external_key(connector: ConnectorId, external_id: &str) -> String {
        format!("{connector}:{external_id}")
    }

    /// Returns the value by which a connector's links that wait for this manager are found. The reference may be an
    /// e-mail address, and is compared as one.
    #[must_use]
    pub fn manager_key(connector: ConnectorId, manager_ref: &str) -> String {
        format!("{connector}:{}", address_key(manager_ref))
    }

    /// Returns `true` if the link belongs to an account of the connector that was not removed.
    #[must_use]
    pub fn is_live_of(&self, connector: ConnectorId) -> bool {
        self.connector_id == connector && self.removed_at.is_none()
    }

    /// Returns the link as it is after a release or removal of the person: it no longer belongs to an account, and
    /// waits for no manager.
    #[must_use]
    pub fn end(&self, at: Timestamp) -> Self {
        let ended_at = at.strictly_after(self.updated_at);
        Self {
            manager_ref: None,
            removed_at: self.removed_at.or(Some(ended_at)),
            updated_at: ended_at,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    #[test]
    fn user_name_ignores_case_and_external_id_does_not() {
        let connector = ConnectorId::from_ulid(Ulid(1));
        let user_name = |text| ScimLink::user_name_key(connector, text);
        assert_eq!(user_name("Ada@Example.com"), user_name("ada@example.COM"));
        assert_eq!(user_name("Ada@M\u{fc}ller.example"), user_name("ada@xn--mller-kva.example"));
        assert_eq!(user_name("E\u{301}lan@example.com"), user_name("\u{e9}lan@example.com"));
        assert_eq!(user_name("E\u{301}lan"), user_name("\u{e9}lan"));
        let stored_key = format!("{connector}:ada@m\u{fc}ller.example");
        let current_key = ScimLink::current_user_name_key("Ada@M\u{fc}ller.example", &stored_key);
        assert_eq!(current_key, user_name("Ada@M\u{fc}ller.example"));
        let external = |text| ScimLink::external_key(connector, text);
        assert_ne!(external("A1"), external("a1"));
        assert_ne!(external("a1"), ScimLink::external_key(ConnectorId::from_ulid(Ulid(2)), "a1"));
    }

    #[test]
    fn text_that_nests_too_deeply_is_kept_as_stored() {
        let deep_text = format!(r#"{{"a":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        let unreadable = ExtraAttributes::from_stored(deep_text.clone());
        assert_eq!(unreadable, ExtraAttributes::Unreadable(deep_text));
        assert_eq!(unreadable.document(), UserDocument::default());
        let text = r#"{"nickName":"Adi","title":null}"#;
        let known_attributes = ExtraAttributes::from_stored(text.to_owned());
        assert_eq!(serde_json::to_string(&known_attributes).unwrap(), text);
        assert!(
            known_attributes
                .is_equal(&ExtraAttributes::from_stored(r#"{"title":null,"nickName":"Adi"}"#.to_owned()))
        );
        assert!(
            !known_attributes.is_equal(&unreadable)
                && !unreadable.is_equal(&known_attributes)
                && unreadable.is_equal(&unreadable)
        );
    }

    #[test]
    fn release_keeps_the_time_of_an_earlier_removal() {
        let time = Timestamp::from_millis(5);
        let link = ScimLink {
            id: EmployeeId::from_ulid(Ulid(1)),
            connector_id: ConnectorId::from_ulid(Ulid(2)),
            user_name: "ada".to_owned(),
            external_id: None,
            manager_ref: None,
            extra: UserDocument::default().into(),
            linked_at: time,
            updated_at: time,
            deactivated_at: None,
            removed_at: None,
        };
        let ended_link = link.end(Timestamp::from_millis(9));
        assert_eq!(ended_link.removed_at, Some(Timestamp::from_millis(9)));
        assert_eq!(ended_link.end(Timestamp::from_millis(12)).removed_at, ended_link.removed_at);
    }
}
