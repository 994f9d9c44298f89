//! The drafts of JSON Schema that are understood.

use jsonschema::Draft;
use serde_json::Value;

/// A draft of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// 2019-09.
    Draft201909,
    /// 2020-12, the one meant when a schema does not say.
    Draft202012,
}

impl Dialect {
    /// The dialect that a schema's `$schema` names, or the one given; `Err` says what is wrong with it.
    pub(super) fn of(schema: &Value, unnamed: Self) -> Result<Self, String> {
        let uri = match schema.get("$schema") {
            None => return Ok(unnamed),
            Some(Value::String(uri)) => uri,
            Some(_) => return Err("\"$schema\" has to be a string".to_owned()),
        };
        let bare = uri.strip_suffix('#').unwrap_or(uri);
        let bare = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://")).unwrap_or(bare);
        match bare {
            "json-schema.org/draft/2020-12/schema" => Ok(Self::Draft202012),
            "json-schema.org/draft/2019-09/schema" => Ok(Self::Draft201909),
            "json-schema.org/draft-07/schema" => Ok(Self::Draft7),
            "json-schema.org/draft-06/schema" => Ok(Self::Draft6),
            "json-schema.org/draft-04/schema" => Ok(Self::Draft4),
            _ => Err(format!(
                "\"$schema\" names {}, which is not understood; leave it out for 2020-12, or name draft 2019-09, 07, 06 or 04",
                super::show::quote(uri)
            )),
        }
    }

    /// The same for the validator.
    pub(super) const fn draft(self) -> Draft {
        match self {
            Self::Draft4 => Draft::Draft4,
            Self::Draft6 => Draft::Draft6,
            Self::Draft7 => Draft::Draft7,
            Self::Draft201909 => Draft::Draft201909,
            Self::Draft202012 => Draft::Draft202012,
        }
    }

    /// Whether keywords beside `$ref` have no effect.
    pub(super) const fn ref_hides_siblings(self) -> bool {
        match self {
            Self::Draft4 | Self::Draft6 | Self::Draft7 => true,
            Self::Draft201909 | Self::Draft202012 => false,
        }
    }
}
