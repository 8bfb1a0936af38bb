//! Reads of users: lists with filters and pages, and single users.

use candor_domain::id::EmployeeId;
use candor_domain::json::{Object, Value};
use candor_domain::people::Employee;
use candor_domain::text::address_key;
use candor_port_storage::StorageExt;
use candor_port_storage::provisioning::{PeopleStart, VisiblePeople};
use candor_provisioning::connector::ScimLink;
use candor_provisioning::{is_visible, selects};
use candor_scim::filter::{UserCondition, UserFilter};
use candor_scim::{CustomMapping, LIST_SCHEMA, Projection, ScimError, UserCursor, UserListRequest, UserListStart};
use candor_tables::read::LookupColumn;
use candor_tables::rows;

use super::ScimContext;
use super::view::LoadedUser;
use crate::context::error::Error;
use crate::context::list::{JsonObjectWriter, MAX_PAGE_BYTES, Pieces};
use crate::context::reply::Reply;
use crate::context::services::render;

/// Number of people that a page reads first, when their size is unknown: at most 150 KB each.
const FIRST_AT_ONCE: usize = 25;
/// Size of the people that a page reads at once after the first ones, as bytes of JSON.
const BYTES_AT_ONCE: usize = 1024 * 1024;

/// People of a page, with the figures of the list.
struct UserPage {
    people: PagePeople,
    total: u64,
    /// `true` if the list has people after those of the page.
    has_more: bool,
    /// `true` if a page may end early and name a cursor for the rest.
    is_cursor: bool,
}

/// People of a page.
enum PagePeople {
    /// Users that an identifier names: at most one for each kind of identifier.
    Loaded(Vec<LoadedUser>),
    /// Ids of people that are still to be read.
    Ids(Vec<EmployeeId>),
}

/// Resources of a page, as JSON.
#[derive(Default)]
struct RenderedUsers {
    json: Vec<u8>,
    count: usize,
    /// Id of the last person that was read, shown or not.
    last: Option<EmployeeId>,
    /// `true` if the page ended before its last person, because of its size.
    is_full: bool,
}

impl RenderedUsers {
    /// Writes a resource if the page has room for it. The first one always fits.
    fn add(&mut self, id: EmployeeId, resource: &Object) -> Result<(), Error> {
        let json = render(resource)?;
        if self.count > 0 && self.json.len() + json.len() > MAX_PAGE_BYTES {
            self.is_full = true;
            return Ok(());
        }
        if self.count > 0 {
            self.json.push(b',');
        }
        self.json.extend_from_slice(&json);
        self.count += 1;
        self.last = Some(id);
        Ok(())
    }
}

/// `GET /Users`: lists the people that the connector sees.
///
/// # Errors
/// `invalidCursor`; errors of the store.
pub async fn list(context: &ScimContext, request: &UserListRequest) -> Result<Reply, Error> {
    let connector = context.load_connector().await?;
    let page = if request.filter.names_one() {
        context.named_page(request).await?
    } else {
        context.visible_page(request).await?
    };
    let form = (connector.mappings.as_slice(), &request.projection);
    let rendered_users = context.render_users(page.people, form).await?;
    let mut body = Object::new();
    body.push("schemas", Value::List(vec![Value::Text(LIST_SCHEMA.to_owned())]));
    body.push("totalResults", Value::Number(page.total.into()));
    body.push("itemsPerPage", Value::Number(rendered_users.count.into()));
    if let UserListStart::Index(start) = request.start {
        body.push("startIndex", Value::Number(start.into()));
    }
    let cursor_id = rendered_users.last.filter(|_| page.is_cursor && (page.has_more || rendered_users.is_full));
    if let Some(last_id) = cursor_id {
        let next = UserCursor { after: last_id, total: page.total };
        body.push("nextCursor", Value::Text(next.encode(&request.filter)));
    }
    let mut json = vec![];
    let mut writer = JsonObjectWriter::begin(&mut json, &body)?;
    writer.written_list("Resources", &rendered_users.json);
    writer.end();
    Ok(Reply::ok(json.into(), None))
}

/// `GET /Users/{id}`: returns one user.
///
/// # Errors
/// 404 for a person that the connector does not see; errors of the store.
pub async fn get(context: &ScimContext, id: EmployeeId, projection: &Projection) -> Result<Reply, Error> {
    let connector = context.load_connector().await?;
    let user = context.load_user(id).await?;
    let resource = projection.apply(context.resource(&connector.mappings, &user));
    let version = user.version();
    Ok(Reply::ok(render(&resource)?, Some(version.person)).with_etag_extra(version.link))
}

impl ScimContext {
    /// Loads a user that the connector sees.
    pub(super) async fn load_user(&self, id: EmployeeId) -> Result<LoadedUser, Error> {
        let user = self.load_person(id).await?.filter(|user| self.sees(user));
        Ok(user.ok_or_else(ScimError::not_found)?)
    }

    /// Reads and renders the people of a page, a few at a time, until the page has its maximum size. The work on a person
    /// counts by what is stored and mapped, because the projection may leave nothing of it.
    async fn render_users(
        &self,
        people: PagePeople,
        (mappings, projection): (&[CustomMapping], &Projection),
    ) -> Result<RenderedUsers, Error> {
        let mut rendered_users = RenderedUsers::default();
        let ids = match people {
            PagePeople::Loaded(users) => {
                for user in &users {
                    let resource = projection.apply(self.resource(mappings, user));
                    rendered_users.add(user.person.value.id, &resource)?;
                }
                return Ok(rendered_users);
            }
            PagePeople::Ids(ids) => ids,
        };
        let (mut read_bytes, mut work) = (0, 0);
        let mut pieces = Pieces::new(self.services(), self.tenant());
        let (mut rest, mut at_once) = (ids.as_slice(), FIRST_AT_ONCE);
        while !rest.is_empty() {
            let (part, others) = rest.split_at(at_once.min(rest.len()));
            rest = others;
            pieces.release();
            let people = self.services().store.rows::<Employee>(self.tenant(), part).await?;
            let mut users = self.load_users(people).await?;
            // Another connector may have adopted a person since the page was read.
            users.retain(|user| self.sees(user));
            users.sort_by_key(|user| user.person.value.id);
            for user in &users {
                if !rendered_users.is_full {
                    let resource = self.resource(mappings, user);
                    let bytes = resource.json_bytes() + user.person.value.custom_fields.json_bytes();
                    read_bytes += bytes;
                    // Each mapping looks for its place among the names.
                    work += bytes * (1 + mappings.len());
                    rendered_users.add(user.person.value.id, &projection.apply(resource))?;
                    let held_bytes = rendered_users.json.len() + bytes * part.len();
                    pieces.let_others_go_first(work, held_bytes).await?;
                }
            }
            if rendered_users.is_full {
                return Ok(rendered_users);
            }
            rendered_users.last = part.last().copied();
            at_once = (BYTES_AT_ONCE * rendered_users.count / read_bytes.max(1)).max(1);
        }
        Ok(rendered_users)
    }

    fn sees(&self, user: &LoadedUser) -> bool {
        is_visible(&user.person.value, user.link.as_ref().map(|link| &link.value), self.connector)
    }

    /// Loads the visible people that a condition on an identifier names: at most one.
    async fn users_named(&self, filter: &UserFilter) -> Result<Vec<LoadedUser>, Error> {
        let condition = filter
            .0
            .iter()
            .find(|condition| !matches!(condition, UserCondition::Active(_) | UserCondition::Manager(_)));
        let mut users = match condition {
            Some(UserCondition::Id(id)) => match id.parse() {
                Ok(id) => self.load_person(id).await?.into_iter().collect(),
                Err(_) => vec![],
            },
            Some(UserCondition::ExternalId(id)) => {
                let key = ScimLink::external_key(self.connector, id);
                self.users_by_link(rows::scim_users::BY_EXTERNAL_ID, key).await?
            }
            Some(UserCondition::UserName(name)) => {
                let key = ScimLink::user_name_key(self.connector, name);
                let linked_users = self.users_by_link(rows::scim_users::BY_USER_NAME, key).await?;
                // The `userName` of a person without an account is their e-mail address.
                if linked_users.iter().any(|user| self.sees(user)) {
                    linked_users
                } else {
                    self.users_by_email(name).await?
                }
            }
            Some(UserCondition::Email(email)) => self.users_by_email(email).await?,
            Some(UserCondition::Active(_) | UserCondition::Manager(_)) | None => vec![],
        };
        users.retain(|user| self.sees(user));
        Ok(users)
    }

    async fn users_by_link(&self, by: LookupColumn<ScimLink>, key: String) -> Result<Vec<LoadedUser>, Error> {
        let link = self.services().store.row_by(self.tenant(), by, key).await?;
        self.load_linked(link.into_iter().collect()).await
    }

    async fn users_by_email(&self, email: &str) -> Result<Vec<LoadedUser>, Error> {
        let email_column = rows::employees::BY_EMAIL;
        let person = self.services().store.row_by(self.tenant(), email_column, address_key(email)).await?;
        self.load_users(person.into_iter().collect()).await
    }

    async fn named_page(&self, request: &UserListRequest) -> Result<UserPage, Error> {
        let mut users = self.users_named(&request.filter).await?;
        let manager = self.manager_of_filter(&request.filter).await?;
        users.retain(|user| selects(&request.filter, &user.person.value, user.live_link(self.connector), manager));
        users.sort_by_key(|user| user.person.value.id);
        let total = users.len();
        let skipped_count = match &request.start {
            UserListStart::Index(start) => usize::try_from(start.saturating_sub(1)).unwrap_or(usize::MAX),
            UserListStart::Cursor(None) => 0,
            UserListStart::Cursor(Some(text)) => {
                let cursor = UserCursor::decode(text, &request.filter)?;
                users.iter().filter(|user| user.person.value.id <= cursor.after).count()
            }
        };
        let count = usize::try_from(request.count).unwrap_or(usize::MAX);
        let users = users.into_iter().skip(skipped_count).take(count).collect();
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        Ok(UserPage { people: PagePeople::Loaded(users), total, has_more: false, is_cursor: false })
    }

    /// Returns the person that the filter's condition on the manager names; `None` if there is no such condition or
    /// person.
    async fn manager_of_filter(&self, filter: &UserFilter) -> Result<Option<EmployeeId>, Error> {
        match filter.manager() {
            Some(text) => self.find_manager(text).await,
            None => Ok(None),
        }
    }

    async fn visible_page(&self, request: &UserListRequest) -> Result<UserPage, Error> {
        let manager = self.manager_of_filter(&request.filter).await?;
        if request.filter.manager().is_some() && manager.is_none() {
            return Ok(UserPage { people: PagePeople::Ids(vec![]), total: 0, has_more: false, is_cursor: false });
        }
        let cursor = match &request.start {
            UserListStart::Cursor(Some(text)) => Some(UserCursor::decode(text, &request.filter)?),
            UserListStart::Cursor(None) | UserListStart::Index(_) => None,
        };
        let start = match (&request.start, cursor) {
            (UserListStart::Index(start), _) => PeopleStart::Skip(start.saturating_sub(1)),
            (UserListStart::Cursor(_), Some(cursor)) => PeopleStart::After(cursor.after),
            (UserListStart::Cursor(_), None) => PeopleStart::Skip(0),
        };
        let count = usize::try_from(request.count).unwrap_or(usize::MAX);
        let query = VisiblePeople {
            connector: self.connector,
            active: request.filter.active(),
            manager,
            start,
            limit: u16::try_from(request.count.saturating_add(1)).unwrap_or(u16::MAX),
        };
        let mut page = self.services().store.visible_people(self.tenant(), &query).await?;
        let total = page.total.or(cursor.map(|cursor| cursor.total)).unwrap_or_default();
        let has_more = page.ids.len() > count;
        page.ids.truncate(count);
        let is_cursor = matches!(request.start, UserListStart::Cursor(_));
        Ok(UserPage { people: PagePeople::Ids(page.ids), total, has_more, is_cursor })
    }
}
