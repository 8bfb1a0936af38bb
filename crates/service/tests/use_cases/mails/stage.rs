//! A service that sends mails to a scripted mail server.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::{Caller, Tenant};
use candor_domain::id::{EmployeeId, OrganizationId};
use candor_domain::page::PageRequest;
use candor_domain::people::Invitation;
use candor_port_events::{Mail, MailFailure, MailTransport};
use candor_port_storage::StorageExt;
use candor_service::runtime::mail::Mailer;
use candor_service::usecases::{employees, invitations, operator};
use candor_service::{ServiceSettings, Services};
use candor_tables::rows;
use serde_json::Value;

use crate::support::{KEY, Receivers, TestServices, body, json, member, process_with};

/// Timeout of the mail transport.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

type Done = Pin<Box<dyn Future<Output = ()> + Send>>;
type Meanwhile = Arc<dyn Fn(Mail) -> Done + Send + Sync>;

/// A scripted mail transport.
pub(super) struct Post(Mutex<State>);

struct State {
    mails: Vec<(Mail, bool)>,
    reply: Result<(), MailFailure>,
    meanwhile: Option<Meanwhile>,
    under_way: usize,
    most: usize,
}

impl Post {
    /// Sets the answer to every mail from now on.
    pub(super) fn answers(&self, reply: Result<(), MailFailure>) {
        self.0.lock().unwrap().reply = reply;
    }

    /// Sets an action that runs while a mail is in flight.
    pub(super) fn on_send(&self, act: impl Fn(Mail) -> Done + Send + Sync + 'static) {
        self.0.lock().unwrap().meanwhile = Some(Arc::new(act));
    }

    /// Ends the action that runs while a mail is in flight.
    pub(super) fn stop_action(&self) {
        self.0.lock().unwrap().meanwhile = None;
    }

    /// Returns every mail that was attempted.
    pub(super) fn all(&self) -> Vec<Mail> {
        self.0.lock().unwrap().mails.iter().map(|(mail, _)| mail.clone()).collect()
    }

    /// Returns every mail that was accepted.
    pub(super) fn accepted_mails(&self) -> Vec<Mail> {
        self.0.lock().unwrap().mails.iter().filter(|(_, sent)| *sent).map(|(mail, _)| mail.clone()).collect()
    }

    /// Returns the accepted mail, and asserts that there is exactly one.
    pub(super) fn single_mail(&self) -> Mail {
        let mut mails = self.accepted_mails();
        assert_eq!(mails.len(), 1);
        mails.remove(0)
    }

    pub(super) fn most_at_once(&self) -> usize {
        self.0.lock().unwrap().most
    }
}

#[async_trait]
impl MailTransport for Post {
    async fn send(&self, mail: Mail) -> Result<(), MailFailure> {
        let action = {
            let mut state = self.0.lock().unwrap();
            state.under_way += 1;
            state.most = state.most.max(state.under_way);
            state.meanwhile.clone()
        };
        match action {
            Some(act) => act(mail.clone()).await,
            None => tokio::task::yield_now().await,
        }
        let mut state = self.0.lock().unwrap();
        state.under_way -= 1;
        let reply = state.reply;
        state.mails.push((mail, reply.is_ok()));
        reply
    }

    async fn rest(&self) {}
}

/// Returns the token from the link of a mail.
pub(super) fn token_of(mail: &Mail) -> String {
    let (_, rest) = mail.text.split_once("?token=").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

/// A service with a scripted mail transport.
pub(super) struct MailTest {
    pub(super) world: TestServices,
    pub(super) post: Arc<Post>,
    invited: Mutex<Vec<EmployeeId>>,
}

impl MailTest {
    pub(super) async fn new() -> Self {
        let mut world = TestServices::new().await;
        world.services = services_with_mail(&world, KEY, 11);
        let state = State { mails: vec![], reply: Ok(()), meanwhile: None, under_way: 0, most: 0 };
        Self { world, post: Arc::new(Post(Mutex::new(state))), invited: Mutex::default() }
    }

    /// Creates another process on the same store, with this master key.
    pub(super) fn process_with(&self, key: &str) -> Arc<Services> {
        services_with_mail(&self.world, key, 12)
    }

    pub(super) fn mailer(&self) -> Mailer {
        self.mailer_of(&self.world.services)
    }

    pub(super) fn mailer_of(&self, services: &Arc<Services>) -> Mailer {
        Mailer::new(services, Arc::clone(&self.post) as Arc<dyn MailTransport>, DEADLINE)
    }

    /// Invites a new person and returns its id.
    pub(super) async fn invite(&self, name: &str) -> EmployeeId {
        let text = serde_json::json!({
            "email": format!("{name}@example.com"), "first_name": name, "last_name": "Example", "send_invite": true,
        });
        let reply = employees::create(&self.world.admin(), body(&text.to_string())).await.unwrap();
        let id = member(&reply, "id").parse().unwrap();
        self.invited.lock().unwrap().push(id);
        id
    }

    /// Creates another organization.
    pub(super) async fn organization(&self, name: &str) -> OrganizationId {
        operator::create_organization(&self.world.services, name).await.unwrap()
    }

    /// Invites a new person of another organization.
    pub(super) async fn invite_to(&self, organization: OrganizationId, name: &str) {
        let text = serde_json::json!({
            "email": format!("{name}@example.com"), "first_name": name, "last_name": "Example", "send_invite": true,
        });
        let admin = (*self.world.admin().caller).clone();
        let context = self.world.call(Caller { tenant: Tenant::live(organization), ..admin });
        employees::create(&context, body(&text.to_string())).await.unwrap();
    }

    pub(super) async fn invitation_of(&self, person: EmployeeId) -> Value {
        json(&invitations::get(&self.world.admin(), person).await.unwrap())
    }

    pub(super) async fn mail_of(&self, person: EmployeeId) -> Value {
        self.invitation_of(person).await["mail"].clone()
    }

    /// Returns the number of sealed tokens in the store.
    pub(super) async fn stored_tokens(&self) -> usize {
        let tenant = self.world.admin().caller.tenant;
        let ids = self.invited.lock().unwrap().clone();
        let has_token =
            |invitation: &&Invitation| invitation.mail.as_ref().is_some_and(|mail| mail.sealed_token.is_some());
        let mut count = 0;
        for id in ids {
            let all = self
                .world
                .store
                .page(tenant, rows::invitations::list_for_person(id, &PageRequest::ALL))
                .await
                .unwrap();
            count += all.items.iter().filter(has_token).count();
        }
        count
    }
}

fn services_with_mail(world: &TestServices, key: &str, seed: u64) -> Arc<Services> {
    let settings = ServiceSettings {
        sends_mail: true,
        ..ServiceSettings::with_public_url("https://candor.example".to_owned())
    };
    process_with(&world.clock, &world.store, Arc::new(Receivers), (key, seed), settings)
}
