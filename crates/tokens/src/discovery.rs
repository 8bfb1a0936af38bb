//! Discovery documents of providers (OpenID Connect Discovery 1.0).

use candor_forms::fields::StringEnum;
use candor_forms::json::{Object, Value};
use candor_forms::receiver_url::ReceiverUrl;
use url::Url;

use super::algorithm::TokenAlgorithm;
use super::strict_json::{DocumentError, MAX_SMALL_DOCUMENT_BYTES, read_object, text, texts};

/// Length of the longest address of a provider, in characters.
pub const ADDRESS_CHARS: usize = 2000;
/// Path of the discovery document, below the issuer.
const PATH: &str = "/.well-known/openid-configuration";

/// The addresses and abilities of a provider, as its discovery document states them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderMetadata {
    /// Issuer of all tokens.
    pub issuer: String,
    /// Address to which a browser is sent for a sign-in.
    pub authorization_endpoint: String,
    /// Address where a code is exchanged for tokens.
    pub token_endpoint: String,
    /// Address of the key set.
    pub jwks_uri: String,
    /// Address to which a browser is sent for a logout.
    pub end_session_endpoint: Option<String>,
    /// Way to send the client secret.
    pub client_authentication: ClientAuthentication,
    /// `true` if authorization responses have the parameter `iss` (RFC 9207).
    pub has_issuer_parameter: bool,
}

/// A way to send the client secret to the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// In the header `Authorization`: the default of OpenID Connect.
    Basic,
    /// In the form.
    Post,
}

/// A reason why a discovery document cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// The document cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The document names another issuer, or none.
    #[error(
        "the discovery document names another issuer or none: compare its issuer with that of the identity provider \
         letter by letter, also the slash at the end"
    )]
    Issuer,
    /// An address is missing.
    #[error("the discovery document has no {0}")]
    NoAddress(&'static str),
    /// An address is not a valid https URL.
    #[error(
        "{0} of the discovery document must be an https URL without user and fragment, of at most 2,000 characters"
    )]
    Address(&'static str),
    /// The provider has no code flow.
    #[error("the provider does not support the response type code")]
    ResponseType,
    /// The provider has no PKCE with SHA-256.
    #[error("the provider does not support the code challenge method S256")]
    CodeChallenge,
    /// The provider signs ID tokens with none of the accepted algorithms.
    #[error(
        "the provider signs ID tokens with none of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 and EdDSA"
    )]
    Algorithm,
    /// The token endpoint takes the client secret in neither of the known ways.
    #[error("the token endpoint supports neither client_secret_basic nor client_secret_post")]
    ClientAuthentication,
    /// A member has the wrong type.
    #[error("{0} of the discovery document has the wrong type")]
    Type(&'static str),
}

/// Returns the address of the discovery document of an issuer.
///
/// ```
/// use candor_tokens::discovery::discovery_address;
///
/// let address = "https://id.example.com/tenant/.well-known/openid-configuration";
/// assert_eq!(discovery_address("https://id.example.com/tenant"), address);
/// assert_eq!(discovery_address("https://id.example.com/tenant/"), address);
/// ```
#[must_use]
pub fn discovery_address(issuer: &str) -> String {
    format!("{}{PATH}", issuer.strip_suffix('/').unwrap_or(issuer))
}

impl ProviderMetadata {
    /// Returns the size of the texts in memory, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let addresses = [&self.issuer, &self.authorization_endpoint, &self.token_endpoint, &self.jwks_uri];
        let end_session = self.end_session_endpoint.as_ref().map_or(0, String::len);
        addresses.into_iter().map(String::len).sum::<usize>() + end_session
    }

    /// Reads the discovery document of an issuer.
    ///
    /// Addresses are https. They may be http if the issuer itself is, which only a trusted network allows.
    ///
    /// # Errors
    /// Returns every reason why the document cannot be used.
    pub fn parse(document: &[u8], issuer: &str) -> Result<Self, Vec<DiscoveryError>> {
        let object = read_object(document, MAX_SMALL_DOCUMENT_BYTES).map_err(|flaw| vec![flaw.into()])?;
        let mut reader = Reader { object: &object, may_be_plain: issuer.starts_with("http:"), flaws: vec![] };
        if text(&object, "issuer") != Some(issuer) {
            reader.flaws.push(DiscoveryError::Issuer);
        }
        let metadata = Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: reader.read_address("authorization_endpoint"),
            token_endpoint: reader.read_address("token_endpoint"),
            jwks_uri: reader.read_address("jwks_uri"),
            end_session_endpoint: reader.read_optional_address("end_session_endpoint"),
            client_authentication: reader.read_client_authentication(),
            has_issuer_parameter: reader.read_flag("authorization_response_iss_parameter_supported"),
        };
        reader.check_lists();
        if reader.flaws.is_empty() { Ok(metadata) } else { Err(reader.flaws) }
    }

    /// Returns the address that ends the session at the provider and then leads to `next` (OpenID Connect RP-Initiated
    /// Logout 1.0); `None` if the provider has none.
    #[must_use]
    pub fn logout_url(&self, client_id: &str, next: &str) -> Option<String> {
        let mut url = Url::parse(self.end_session_endpoint.as_deref()?).ok()?;
        url.query_pairs_mut().append_pair("client_id", client_id).append_pair("post_logout_redirect_uri", next);
        Some(url.into())
    }
}

/// Reads the members of a document and collects its flaws.
struct Reader<'o> {
    object: &'o Object,
    may_be_plain: bool,
    flaws: Vec<DiscoveryError>,
}

/// Name of a list in the document, a test of which one word must pass, and the flaw if no word passes.
type AbilityCheck<'a> = (&'static str, &'a dyn Fn(&str) -> bool, DiscoveryError);

impl<'o> Reader<'o> {
    fn read_address(&mut self, name: &'static str) -> String {
        if self.object.get(name).is_none() {
            self.flaws.push(DiscoveryError::NoAddress(name));
        }
        self.read_optional_address(name).unwrap_or_default()
    }

    fn read_optional_address(&mut self, name: &'static str) -> Option<String> {
        self.object.get(name)?;
        let address = text(self.object, name).filter(|address| self.is_valid(address));
        if address.is_none() {
            self.flaws.push(DiscoveryError::Address(name));
        }
        address.map(ToOwned::to_owned)
    }

    fn is_valid(&self, address: &str) -> bool {
        let is_permitted = |url: &Url| {
            let is_scheme = url.scheme() == "https" || (self.may_be_plain && url.scheme() == "http");
            is_scheme && url.fragment().is_none()
        };
        let is_short = address.chars().nth(ADDRESS_CHARS).is_none();
        is_short && ReceiverUrl::parse(address).is_ok_and(|address| is_permitted(address.url()))
    }

    fn read_flag(&mut self, name: &'static str) -> bool {
        match self.object.get(name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Null | Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Object(_)) => {
                self.flaws.push(DiscoveryError::Type(name));
                false
            }
        }
    }

    /// Returns the words of a list. `None` if the list is missing, or is no list of texts, which is recorded as a
    /// flaw.
    fn read_words(&mut self, name: &'static str) -> Option<Vec<&'o str>> {
        self.object.get(name)?;
        let words = texts(self.object, name);
        if words.is_none() {
            self.flaws.push(DiscoveryError::Type(name));
        }
        words
    }

    fn read_client_authentication(&mut self) -> ClientAuthentication {
        let methods = self.read_words("token_endpoint_auth_methods_supported");
        let has = |method| methods.as_ref().is_none_or(|methods| methods.contains(&method));
        match (has("client_secret_basic"), has("client_secret_post")) {
            (true, _) => ClientAuthentication::Basic,
            (false, true) => ClientAuthentication::Post,
            (false, false) => {
                // A public client sends no secret.
                if !has("none") {
                    self.flaws.push(DiscoveryError::ClientAuthentication);
                }
                ClientAuthentication::Basic
            }
        }
    }

    /// Checks the lists of abilities. A missing list is no flaw: the provider may have the ability all the same.
    fn check_lists(&mut self) {
        let is_accepted = |word: &str| TokenAlgorithm::from_word(word).is_ok();
        let checks: [AbilityCheck<'_>; 3] = [
            ("response_types_supported", &|word| word == "code", DiscoveryError::ResponseType),
            ("code_challenge_methods_supported", &|word| word == "S256", DiscoveryError::CodeChallenge),
            ("id_token_signing_alg_values_supported", &is_accepted, DiscoveryError::Algorithm),
        ];
        for (name, is_enough, flaw) in checks {
            if self.read_words(name).is_some_and(|words| !words.into_iter().any(is_enough)) {
                self.flaws.push(flaw);
            }
        }
    }
}
