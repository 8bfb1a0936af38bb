//! Rules of objects within a body, whose members are fields with problems of their own.

use std::ops::RangeInclusive;

use super::{Rule, Shape};
use crate::fields::Fields;
use crate::json::Value;
use crate::problem::{Code, ValidationErrors, ValueError};

/// The rule that [`nested`] creates.
#[derive(Debug, Clone, Copy)]
pub struct Nested<T, F = fn(&mut Fields) -> Option<T>>(F, std::marker::PhantomData<fn() -> T>);

/// Creates the rule of an object whose members `read` takes like those of a body. The parsed value holds the
/// problems of the members; [`Fields::nested`] adds them to the problems of the body.
pub const fn nested<T>(read: fn(&mut Fields) -> Option<T>) -> Nested<T> {
    Nested(read, std::marker::PhantomData)
}

/// The rule that [`several`] creates.
#[derive(Debug, Clone)]
pub struct Several<T, F> {
    bounds: RangeInclusive<usize>,
    each: Nested<T, F>,
}

/// Creates the rule of a list with a limited number of objects, each read as [`nested`] does.
pub const fn several<T, F: Fn(&mut Fields) -> Option<T>>(bounds: RangeInclusive<usize>, read: F) -> Several<T, F> {
    Several { bounds, each: Nested(read, std::marker::PhantomData) }
}

impl<T, F: Fn(&mut Fields) -> Option<T>> Rule for Nested<T, F> {
    type Value = Result<T, ValidationErrors>;

    fn parse(&self, value: &Value) -> Result<Self::Value, ValueError> {
        let Value::Object(members) = value else {
            return Err(ValueError::format(format!("an object, not {}", value.kind())));
        };
        let mut fields = Fields::new(members.clone());
        let read = (self.0)(&mut fields);
        Ok(fields.finish(read).map_err(|problems| problems.prefix_fields(".")))
    }

    fn shape(&self) -> Shape {
        Shape::Object(Fields::describe_fields(&self.0))
    }
}

impl<T, F: Fn(&mut Fields) -> Option<T>> Rule for Several<T, F> {
    type Value = Result<Vec<T>, ValidationErrors>;

    fn parse(&self, value: &Value) -> Result<Self::Value, ValueError> {
        let Value::List(items) = value else {
            return Err(ValueError::format(format!("an array, not {}", value.kind())));
        };
        let (min, max) = (*self.bounds.start(), *self.bounds.end());
        if items.len() < min {
            return Err(ValueError::new(Code::TooShort, format!("must have at least {min} entries")));
        }
        if items.len() > max {
            return Err(ValueError::new(Code::TooLong, format!("must have at most {max} entries")));
        }
        let (mut out, mut problems) = (Vec::with_capacity(items.len()), ValidationErrors::none());
        for (at, item) in items.iter().enumerate() {
            match self.each.parse(item) {
                Ok(Ok(value)) => out.push(value),
                Ok(Err(found)) => problems.extend(found.prefix_fields(&format!("[{at}]"))),
                Err(flaw) => problems.add(format!("[{at}]"), flaw),
            }
        }
        Ok(problems.or(out))
    }

    fn shape(&self) -> Shape {
        let (min, max) = (*self.bounds.start(), *self.bounds.end());
        Shape::List { of: Box::new(self.each.shape()), min, max, is_set: false }
    }
}
