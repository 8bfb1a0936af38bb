//! Filters in the language of jq.

use std::fmt::Display;

use jaq_core::data::JustLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, unwrap_valr};
use jaq_json::{Val, read};

use crate::remote::RemoteFailure;

/// A compiled jq filter for responses of the service.
pub(super) struct Filter(jaq_core::Filter<JustLut<Val>>);

impl Filter {
    /// Compiles a filter.
    ///
    /// # Errors
    /// [`RemoteFailure::Usage`] with the first error.
    pub(super) fn compile(code: &str) -> Result<Self, RemoteFailure> {
        let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let wrong = |reason: String| RemoteFailure::Usage(format!("--jq is {code:?}: {reason}"));
        let arena = Arena::default();
        let program = File { code, path: () };
        let modules = Loader::new(definitions).load(&arena, program).map_err(|errors| {
            wrong(errors.into_iter().next().map_or_else(String::new, |(_, error)| syntax(error)))
        })?;
        let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
            let first = errors.into_iter().flat_map(|(_, errors)| errors).next();
            wrong(first.map_or_else(String::new, |(name, kind)| format!("there is no {} {name}", kind.as_str())))
        })?;
        Ok(Self(filter))
    }

    /// Applies the filter to a JSON text, and passes each result to `receive`.
    ///
    /// # Errors
    /// [`RemoteFailure::Filter`] if the text is no JSON or the filter fails; the errors of `receive`.
    pub(super) fn apply<E: From<RemoteFailure>>(
        &self,
        text: &[u8],
        mut receive: impl FnMut(&Val) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error: &dyn Display| RemoteFailure::Filter(error.to_string());
        let input = read::parse_single(text).map_err(|error| failed(&error))?;
        let context = Ctx::<JustLut<Val>>::new(&self.0.lut, Vars::new([]));
        for result in self.0.id.run((context, input)).map(unwrap_valr) {
            receive(&result.map_err(|error| failed(&error))?)?;
        }
        Ok(())
    }
}

fn syntax(error: load::Error<&str>) -> String {
    let expected = |what: &str, found: &str| match found {
        "" => format!("expected {what} at its end"),
        found => format!("expected {what} before {found:?}"),
    };
    match error {
        load::Error::Io(errors) => errors.into_iter().map(|(_, error)| error).next().unwrap_or_default(),
        load::Error::Lex(errors) => {
            errors.first().map_or_else(String::new, |(what, found)| expected(what.as_str(), found))
        }
        load::Error::Parse(errors) => {
            errors.first().map_or_else(String::new, |(what, found)| expected(what.as_str(), found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(code: &str, text: &str) -> Result<Vec<String>, RemoteFailure> {
        let mut all = vec![];
        Filter::compile(code)?.apply(text.as_bytes(), |value| {
            all.push(value.to_string());
            Ok::<_, RemoteFailure>(())
        })?;
        Ok(all)
    }

    #[test]
    fn filter_returns_its_results_in_order() {
        let text = r#"{"data": [{"b": 1, "a": "x"}, {"b": 2.50, "a": null}]}"#;
        assert_eq!(results(".data[]", text).unwrap(), [r#"{"b":1,"a":"x"}"#, r#"{"b":2.50,"a":null}"#]);
        assert_eq!(results(".data | map(.b) | add", text).unwrap(), ["3.5"]);
        assert_eq!(results(".data[].a | select(test(\"^x\")?)", text).unwrap(), ["\"x\""]);
        assert_eq!(results("empty", text).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn malformed_filter_is_refused_with_its_place() {
        for (code, says) in
            [(".data[", "at its end"), (".a | | .b", "before \"|\""), ("nosuch", "no filter nosuch")]
        {
            let error = results(code, "{}").err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(says) && error.contains(code), "{code}: {error}");
        }
        let failed = results(".data[]", "[1]").unwrap_err().to_string();
        assert!(failed.contains("--jq"), "{failed}");
    }
}
