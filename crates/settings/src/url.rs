//! URLs with passwords masked, including passwords that were not percent-encoded.

/// Replacement of the masked part.
const MASK: &str = "***";
/// Parameters without secrets. All other parameters are masked, because a password may contain `&`, and names
/// may be percent-encoded.
const SHOWN: [&str; 18] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "load_balance_hosts",
    "port",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "timeout",
    "tls",
    "user",
    "options",
];
/// Characters that a user name cannot contain unless the URL was misparsed.
const ODD: [char; 5] = ['/', '?', '#', '&', '='];

/// Replaces the password of a URL, before the host or in the parameters. Parts that cannot be distinguished
/// from a password are masked as well.
pub(super) fn mask_password(url: &str) -> String {
    let scheme =
        url.split_once("://").filter(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let Some((scheme, rest)) = scheme else { return MASK.to_owned() };
    if scheme == "sqlite" {
        return url.to_owned();
    }
    let masked_place = match rest.rsplit_once('@') {
        None => place(rest),
        // A password that is not percent-encoded may contain `@`, so it extends to the last `@`.
        Some((userinfo, behind)) => {
            let (user, password) = userinfo.split_once(':').map_or((userinfo, false), |(user, _)| (user, true));
            if user.contains(ODD) {
                return format!("{scheme}://{MASK}");
            }
            place(behind).map(|address| {
                if password { format!("{user}:{MASK}@{address}") } else { format!("{user}@{address}") }
            })
        }
    };
    format!("{scheme}://{}", masked_place.as_deref().unwrap_or(MASK))
}

/// Returns hosts, database and parameters, with secret parameters masked; `None` if the host part is malformed.
fn place(text: &str) -> Option<String> {
    let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    let hosts = path.split('/').next().unwrap_or_default();
    if !hosts.split(',').all(is_host) {
        return None;
    }
    let Some(query) = query else { return Some(path.to_owned()) };
    let parameters: Vec<String> = query.split('&').map(parameter).collect();
    Some(format!("{path}?{}", parameters.join("&")))
}

fn is_host(text: &str) -> bool {
    if let Some(address) = text.strip_prefix('[') {
        let Some((address, port)) = address.split_once(']') else { return false };
        let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_number);
        return is_port && address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let is_name = |character: char| character.is_ascii_alphanumeric() || ".-_%".contains(character);
    name.chars().all(is_name) && port.is_none_or(is_number)
}

fn is_number(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

fn parameter(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, _)) if SHOWN.contains(&name) => pair.to_owned(),
        Some((name, _)) if ["password", "sslpassword"].contains(&name) => format!("{name}={MASK}"),
        Some(_) | None => MASK.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::mask_password;

    #[test]
    fn password_is_masked_in_every_url() {
        let table = [
            ("postgres://app:hunter2@db.example/candor", "postgres://app:***@db.example/candor"),
            ("postgres://app:hunter2?x@host/db", "postgres://app:***@host/db"),
            ("postgres://app:?hunter2@host/db?sslmode=require", "postgres://app:***@host/db?sslmode=require"),
            (
                "postgres://app:hun@ter2/x@db/candor?sslmode=require",
                "postgres://app:***@db/candor?sslmode=require",
            ),
            ("postgres://app:hun#ter2&a=b@db/candor", "postgres://app:***@db/candor"),
            ("postgres://app:hun:ter2@db:5432/candor", "postgres://app:***@db:5432/candor"),
            ("postgres://app:hunter2://@db/candor", "postgres://app:***@db/candor"),
            ("postgres://app:hunter2@@db/candor", "postgres://app:***@db/candor"),
            ("postgres://:hunter2@db/candor", "postgres://:***@db/candor"),
            ("postgres://app:h%75nter2@[::1]:5432/candor", "postgres://app:***@[::1]:5432/candor"),
            ("postgres://app:hunter2@a:1,b:2/candor", "postgres://app:***@a:1,b:2/candor"),
            ("postgres://app:hunter2@", "postgres://app:***@"),
            ("postgres://app:hunter2/candor", "postgres://***"),
            ("postgres://app:hunter2", "postgres://***"),
            ("postgres://app:x@db:hunter2/candor", "postgres://***"),
            ("postgres://app@db/candor", "postgres://app@db/candor"),
            ("postgres://db:5432/candor", "postgres://db:5432/candor"),
            ("postgres://db/candor?user=app&password=hunter2", "postgres://db/candor?user=app&password=***"),
            ("postgres://db/candor?password=hunt&er2", "postgres://db/candor?password=***&***"),
            ("postgres://db/candor?passw%6Frd=hunter2", "postgres://db/candor?***"),
            ("postgres://db/candor?PASSWORD=hunter2", "postgres://db/candor?***"),
            ("postgres://db/candor?password=hun@ter2", "postgres://***"),
            ("postgres://db:5432/candor?user=a@b&password=hunter2", "postgres://***"),
            (
                "postgres:///candor?host=/run/pg&sslpassword=hunter2",
                "postgres:///candor?host=/run/pg&sslpassword=***",
            ),
            ("mysql://app:hunter2@db", "mysql://app:***@db"),
            ("redis://:hunter2@cache:6379/0", "redis://:***@cache:6379/0"),
            ("postgres:app:hunter2@db", "***"),
            ("hunter2:x://db", "***"),
            ("app:hunter2@db", "***"),
            ("nonsense:hunter2", "***"),
            ("sqlite:///home/me@work/candor.db", "sqlite:///home/me@work/candor.db"),
            ("hunter2", "***"),
        ];
        for (url, shown) in table {
            assert_eq!(mask_password(url), shown, "{url}");
            let parts = ["hunter2", "hun@", "ter2", "hunt", "er2", "h%75"];
            assert!(!parts.iter().any(|part| mask_password(url).contains(part)), "{url}");
        }
    }
}
