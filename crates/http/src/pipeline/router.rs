//! Finds the route of a path.

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::http::header::HeaderValue;
use candor_domain::spelling::is_misspelled;

use crate::contract::request::Captures;
use crate::contract::route::{BASE, Dialect, Method, Route};
use crate::response::Response;

/// One path of the table, with its routes.
pub(crate) struct Resource {
    dialect: Dialect,
    segments: Vec<&'static str>,
    routes: [Option<&'static Route>; Method::ALL.len()],
    /// Path pattern for logs and metrics.
    pub(crate) pattern: &'static str,
    /// Methods of the path, for `Allow`.
    pub(crate) allow: HeaderValue,
}

impl Resource {
    /// Returns the route of a method; `HEAD` uses the route of `GET`.
    pub(crate) fn route(&self, method: &actix_web::http::Method) -> Option<&'static Route> {
        match method.as_str() {
            "GET" | "HEAD" => self.routes[Method::Get as usize],
            "POST" => self.routes[Method::Post as usize],
            "PATCH" => self.routes[Method::Patch as usize],
            "PUT" => self.routes[Method::Put as usize],
            "DELETE" => self.routes[Method::Delete as usize],
            _ => None,
        }
    }

    /// Returns the HTML page for browsers if the method is GET or HEAD and the path has a page.
    pub(crate) fn page(&self, method: &actix_web::http::Method) -> Option<fn(&HttpRequest) -> Response> {
        let is_read = matches!(method.as_str(), "GET" | "HEAD");
        self.routes.iter().flatten().find_map(|route| route.page).filter(|_| is_read)
    }

    fn matches<'p>(&self, path: &[&'p str]) -> Option<Captures<'p>> {
        if self.segments.len() != path.len() {
            return None;
        }
        let mut captures = Captures::default();
        let mut capture_count = 0;
        for (wanted, given) in self.segments.iter().zip(path) {
            if wanted.starts_with('{') && !given.is_empty() {
                captures.set(capture_count, given);
                capture_count += 1;
            } else if wanted != given {
                return None;
            }
        }
        Some(captures)
    }
}

/// Maximum number of segments of a path below the base of its dialect. Longer paths match no route.
const MAX_SEGMENTS: usize = 6;
/// Maximum number of bytes of an unknown path for which a known one is suggested.
const MAX_SUGGESTED: usize = 200;

/// All paths of a table.
pub(crate) struct Router(Vec<Resource>);

impl Router {
    /// Groups the routes by path.
    pub(crate) fn new(routes: &'static [Route]) -> Self {
        let mut resources: Vec<Resource> = Vec::new();
        for route in routes {
            let index =
                resources.iter().position(|resource| resource.pattern == route.path).unwrap_or_else(|| {
                    resources.push(Resource {
                        dialect: route.dialect,
                        segments: route.path.split('/').skip(1).collect(),
                        routes: [None; Method::ALL.len()],
                        pattern: route.path,
                        allow: HeaderValue::from_static("OPTIONS"),
                    });
                    resources.len() - 1
                });
            resources[index].routes[route.method as usize] = Some(route);
        }
        for resource in &mut resources {
            resource.allow = allow(&resource.routes);
        }
        // Literal segments take precedence over identifiers.
        resources.sort_by_key(|resource| {
            resource.segments.iter().map(|segment| segment.starts_with('{')).collect::<Vec<_>>()
        });
        Self(resources)
    }

    /// Returns the path of the table that a wrong path probably means. The wrong path may have more slashes,
    /// another case or version, no `/v1`, or a misspelled first segment.
    pub(crate) fn suggest(&self, path: &str) -> Option<String> {
        if path.len() > MAX_SUGGESTED {
            return None;
        }
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let is_version =
            |segment: &str| segment.strip_prefix(['v', 'V']).is_some_and(|number| number.parse::<u8>().is_ok());
        let first_place = segments.iter().position(|segment| is_version(segment)).map_or(0, |at| at + 1);
        let (first, rest) = segments.get(first_place..)?.split_first()?;
        let first = first.to_ascii_lowercase();
        let resources = self.0.iter().filter(|resource| resource.dialect == Dialect::V1);
        let names = resources.filter_map(|resource| resource.segments.first());
        let name = names.clone().find(|name| ***name == *first).or_else(|| {
            let mut names = names;
            names.find(|name| is_misspelled(&first, name))
        })?;
        let right = rest.iter().fold(format!("{BASE}/{name}"), |path, segment| format!("{path}/{segment}"));
        self.find(&right).is_some().then_some(right)
    }

    /// Finds the resource at a path and the identifiers in it.
    pub(crate) fn find<'p>(&self, path: &'p str) -> Option<(&Resource, Captures<'p>)> {
        let dialect = Dialect::of_path(path);
        let rest = path.strip_prefix(dialect.base())?.strip_prefix('/')?;
        let mut segments = [""; MAX_SEGMENTS];
        let mut count = 0;
        let is_meant = |segment: &&str| !segment.is_empty() || !dialect.ignores_empty_segments();
        for segment in rest.split('/').filter(is_meant) {
            *segments.get_mut(count)? = segment;
            count += 1;
        }
        let mut resources = self.0.iter().filter(|resource| resource.dialect == dialect);
        resources.find_map(|route| route.matches(&segments[..count]).map(|captures| (route, captures)))
    }
}

/// Decodes needlessly escaped characters: `%65` is an `e` (RFC 3986 §6.2.2.2). Other escapes stay, so an escaped
/// `/` is no separator.
pub(crate) fn decode_unreserved(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let is_unreserved =
        |candidate: &char| candidate.is_ascii_alphanumeric() || matches!(candidate, '-' | '.' | '_' | '~');
    let (mut plain, mut rest) = (String::with_capacity(path.len()), path);
    while let Some((before, behind)) = rest.split_once('%') {
        plain.push_str(before);
        let byte = behind.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.map(char::from).filter(is_unreserved) {
            Some(it) => {
                plain.push(it);
                rest = &behind[2..];
            }
            None => {
                plain.push('%');
                rest = behind;
            }
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

fn allow(routes: &[Option<&'static Route>]) -> HeaderValue {
    let mut words = Vec::new();
    for method in Method::ALL {
        let has_page = method == Method::Get && routes.iter().flatten().any(|route| route.has_page());
        if routes[method as usize].is_some() || has_page {
            words.push(method.word());
            if method == Method::Get {
                words.push("HEAD");
            }
        }
    }
    words.push("OPTIONS");
    HeaderValue::from_str(&words.join(", ")).unwrap_or(HeaderValue::from_static("OPTIONS"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn route_of_the_table_is_found_at_its_path() {
        let router = Router::new(ROUTES);
        for route in ROUTES {
            let second_ids = ["{delivery_id}", "{message_id}", "{issue_id}", "{check_in_id}", "{employee_id}"];
            let path = second_ids
                .iter()
                .fold(route.path.replace("{id}", "some_id"), |path, id| path.replace(id, "other_id"));
            let path = format!("{}{path}", route.dialect.base());
            let (resource, captures) = router.find(&path).unwrap();
            let method = actix_web::http::Method::from_bytes(route.method.word().as_bytes()).unwrap();
            assert!(std::ptr::eq(resource.route(&method).unwrap(), route), "{path}");
            let capture_of = |name: &str, id: &'static str| if route.path.contains(name) { id } else { "" };
            let second = second_ids.map(|path| capture_of(path, "other_id")).concat();
            let expected_captures = (capture_of("{id}", "some_id"), second.as_str());
            assert_eq!((captures.first(), captures.second()), expected_captures, "{path}");
            assert_eq!(format!("{}{}", route.dialect.base(), captures.fill(route.path)), path);
        }
    }

    #[test]
    fn path_outside_the_table_finds_no_route() {
        let router = Router::new(ROUTES);
        for path in
            ["", "/", "/v1", "/v1/", "/v1/observations/a/b", "/v1/observations/a/archive/", "/v1/a/b/c/d/e/f/g/h"]
        {
            assert!(router.find(path).is_none(), "{path}");
        }
    }

    #[test]
    fn scim_ignores_empty_segments_but_not_case() {
        let router = Router::new(ROUTES);
        let pattern = |path: &str| router.find(path).map(|(resource, _)| resource.pattern);
        for path in ["/scim/v2/Users", "/scim/v2/Users/", "/scim/v2//Users"] {
            assert_eq!(pattern(path), Some("/scim/v2/Users"), "{path}");
        }
        assert_eq!(pattern("/scim/v2/Users/emp_1/"), Some("/scim/v2/Users/{id}"));
        for path in ["/scim/v2", "/scim/v2/", "/scim/v2/users", "/scim/v2/Users/emp_1/x", "/v1/scim/v2/Users"] {
            assert_eq!(pattern(path), None, "{path}");
        }
    }

    #[test]
    fn nearly_right_path_finds_no_route_but_a_suggestion() {
        let router = Router::new(ROUTES);
        for path in [
            "/v1/employees/",
            "//v1/employees",
            "/v1/Employees",
            "/v2/employees",
            "/employees",
            "/v1/employes",
            "/v1/employee",
            "/api/v1/employees",
            "/v1//employees",
        ] {
            assert!(router.find(path).is_none(), "{path}");
            assert_eq!(router.suggest(path).as_deref(), Some("/v1/employees"), "{path}");
        }
        assert_eq!(router.suggest("/v1/employee/emp_1/").as_deref(), Some("/v1/employees/emp_1"));
        for path in ["/", "/v1", "/v1/nothing", "/v1/employees/a/b/c", "/favicon.ico", "/v1/employees/a/archives"]
        {
            assert_eq!(router.suggest(path), None, "{path}");
        }
    }

    #[test]
    fn percent_encoding_is_decoded_for_unreserved_only() {
        for (sent, read) in [
            ("/v1/me", "/v1/me"),
            ("/%76%31/employees/%65mp%5F0%2d%2E%7e", "/v1/employees/emp_0-.~"),
            ("/v1%2Fme/%00/%C3%A9/%20/%", "/v1%2Fme/%00/%C3%A9/%20/%"),
            ("/%4/%zz/%+5/%é/%2565", "/%4/%zz/%+5/%é/%2565"),
        ] {
            assert_eq!(decode_unreserved(sent), read);
        }
    }

    #[test]
    fn allow_lists_methods_of_the_table_plus_head_and_options() {
        let router = Router::new(ROUTES);
        let allow = |path| router.find(path).unwrap().0.allow.clone();
        assert_eq!(allow("/v1/observations"), "GET, HEAD, POST, OPTIONS");
        assert_eq!(allow("/v1/observations/x/archive"), "POST, OPTIONS");
        assert_eq!(allow("/v1/invitations/accept"), "GET, HEAD, POST, OPTIONS", "and of a page");
        assert_eq!(allow("/v1/webhooks/x"), "GET, HEAD, PATCH, DELETE, OPTIONS");
    }
}
