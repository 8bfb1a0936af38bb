//! Checks of identity providers: what an admin posts, and what the evidence proves (decision B9).

use candor_domain::fields::Fields;
use candor_domain::json::Object;
use candor_domain::problem::ValidationErrors;
use candor_domain::rule::{self, Field, Text};
use candor_domain::secret::Secret;
use candor_tokens::claims::TokenRules;
use candor_tokens::token::MAX_TOKEN_BYTES;

use super::evidence::ProviderEvidence;
use super::{IdentityProvider, ProvenValues};

const TOKEN: Field<Text> = Field::with_about(
    "token",
    rule::text(1..=MAX_TOKEN_BYTES),
    "An access token of the provider, which proves its audiences once a domain of the provider is proven. It has the id of \
     the provider (`idp_…`) in the claim `candor_provider` or `roles`. A sign-in proves the client id. The token is not \
     stored. Without it, only domains are proven.",
);

/// Reads the fields of a check. Returns the token.
pub fn read_check(fields: &mut Fields) -> Option<Secret> {
    fields.optional(&TOKEN).map(Secret::new)
}

/// Reads the body of a check. Returns the token.
///
/// # Errors
/// Returns every invalid field.
pub fn parse_check(body: Object) -> Result<Option<Secret>, ValidationErrors> {
    let mut fields = Fields::new(body);
    let token = read_check(&mut fields);
    fields.finish(Some(token))
}

impl IdentityProvider {
    /// Returns the settings that tokens of the provider must match.
    #[must_use]
    pub fn token_rules(&self) -> TokenRules {
        TokenRules {
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            audiences: self.audiences.clone(),
            authorized_parties: self.authorized_parties.clone(),
            required_acr: self.required_acr.clone(),
            subject_claim: self.subject_claim.clone(),
            session_lifetime: self.session_lifetime,
        }
    }

    /// Returns the domains that are not proven, whose TXT records a check reads.
    pub fn unproven_domains(&self) -> impl Iterator<Item = &str> {
        self.domains.iter().filter(|entry| !entry.is_proven).map(|entry| entry.domain.as_str())
    }

    /// Returns the values of the provider that the evidence proves. Adds a problem to the evidence for each domain
    /// without the TXT record that proves it, and for a token that proves nothing because no domain is proven.
    #[must_use]
    pub fn judge(&self, evidence: &mut ProviderEvidence) -> ProvenValues {
        let mut values = ProvenValues::default();
        let mut problems = vec![];
        for entry in self.domains.iter().filter(|entry| !entry.is_proven) {
            let records = evidence.records.iter().find(|(domain, _)| *domain == entry.domain);
            match records {
                Some((_, texts)) if texts.iter().any(|text| text.trim() == entry.txt_record) => {
                    values.domains.insert(entry.domain.clone());
                }
                Some(_) => problems.push(format!("{}: no TXT record is {}", entry.domain, entry.txt_record)),
                // The name server did not answer, which is a problem already.
                None => {}
            }
        }
        if !evidence.audiences.is_empty() {
            // Organizations share issuers. So a token proves values only for an organization that is known by a domain of
            // its own.
            if self.domains.iter().any(|entry| entry.is_proven) || !values.domains.is_empty() {
                values.audiences.extend(evidence.audiences.iter().cloned());
            } else {
                problems
                    .push("token: a token proves nothing before a domain of email_domains is proven".to_owned());
            }
        }
        evidence.problems.append(&mut problems);
        values
    }

    /// Returns all values that are proven, domains first.
    #[must_use]
    pub fn proven_values(&self) -> Vec<String> {
        let domains = self.domains.iter().filter(|entry| entry.is_proven).map(|entry| entry.domain.clone());
        domains.chain(self.proven_audiences.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::provider;
    use super::*;

    #[test]
    fn evidence_proves_only_values_of_the_provider() {
        let provider = provider(
            r#""link_by": "verified_email", "email_domains": ["a.example", "b.example", "c.example"],
               "audiences": ["api://candor"]"#,
        );
        let record = |index: usize| provider.domains[index].txt_record.clone();
        let other_record = "v=spf1 -all".to_owned();
        let mut evidence = ProviderEvidence {
            records: vec![
                ("a.example".to_owned(), vec![other_record.clone(), format!("{} ", record(0))]),
                ("b.example".to_owned(), vec![record(0), other_record]),
                ("z.example".to_owned(), vec![record(1)]),
            ],
            audiences: vec!["api://candor".to_owned()],
            ..ProviderEvidence::default()
        };
        let values = provider.judge(&mut evidence);
        assert_eq!(values.domains.into_iter().collect::<Vec<_>>(), ["a.example"]);
        assert_eq!(values.audiences.into_iter().collect::<Vec<_>>(), ["api://candor"]);
        assert_eq!(evidence.problems, [format!("b.example: no TXT record is {}", record(1))]);
    }

    #[test]
    fn token_proves_values_of_a_provider_with_a_proven_domain_alone() {
        let settings = r#""link_by": "scim_external_id", "audiences": ["api://candor"]"#;
        let judge = |provider: &IdentityProvider, records: Vec<(String, Vec<String>)>| {
            let audiences = vec!["api://candor".to_owned()];
            let mut evidence = ProviderEvidence { audiences, records, ..ProviderEvidence::default() };
            (provider.judge(&mut evidence).audiences.len(), evidence.problems.len())
        };
        assert_eq!(judge(&provider(settings), vec![]), (0, 1), "without a domain");
        let with_domain = provider(&format!(r#"{settings}, "email_domains": ["a.example"]"#));
        assert_eq!(judge(&with_domain, vec![]), (0, 1), "with a domain that is not proven");
        let record = vec![("a.example".to_owned(), vec![with_domain.domains[0].txt_record.clone()])];
        assert_eq!(judge(&with_domain, record), (1, 0), "in the same check");
        let mut proven = with_domain;
        proven.domains[0].is_proven = true;
        assert_eq!(judge(&proven, vec![]), (1, 0), "before");
    }

    #[test]
    fn body_of_a_check_is_optional_and_its_token_bounded() {
        let parse = |text: &str| parse_check(serde_json::from_str(text).unwrap());
        assert_eq!(parse("{}"), Ok(None));
        assert_eq!(parse(r#"{"token": "a.b.c"}"#).map(|token| token.is_some()), Ok(true));
        let long = format!(r#"{{"token": "{}"}}"#, "a".repeat(MAX_TOKEN_BYTES + 1));
        assert!(parse(&long).is_err() && parse(r#"{"tokens": "a"}"#).is_err());
    }
}
