//! What a person is asked: the seed's ApprovalRequest and every fact that the prompt shows.

use crate::text::{Escaped, Untrusted, escape, is_hidden};
use serde_json::{Map, Value};

/// Values longer than this many characters are cut in the first view, visibly and with a way to see the rest.
const VIEW_CHARS: usize = 2000;

/// One labelled line of the prompt. The text is complete and escaped; it may be long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// A short word such as `runs`.
    pub label: &'static str,
    /// The whole text.
    pub text: Escaped,
    /// How many hidden characters are shown as escapes in it.
    pub hidden: usize,
}

impl Detail {
    /// A line from text that somebody else supplied.
    pub fn untrusted(label: &'static str, text: &Untrusted) -> Self {
        let hidden = text.raw().chars().filter(|c| is_hidden(*c)).count();
        Self { label, text: text.escape(), hidden }
    }

    /// A line from text of our own.
    pub fn own(label: &'static str, text: &str) -> Self {
        Self { label, text: escape(text), hidden: 0 }
    }

    /// The text to show, and how many characters of it are left out.
    pub fn view(&self, all: bool) -> (String, usize) {
        let count = self.text.as_str().chars().count();
        if all || count <= VIEW_CHARS {
            return (self.text.as_str().to_owned(), 0);
        }
        (self.text.as_str().chars().take(VIEW_CHARS).collect(), count - VIEW_CHARS)
    }
}

/// A request for approval (000 ApprovalRequest), with the digest that the answer is bound to.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The request's id.
    pub request_id: String,
    /// The tool.
    pub tool_name: String,
    /// The canonical arguments.
    pub args: Map<String, Value>,
    /// The agent that calls.
    pub agent_name: String,
    /// The run.
    pub run_id: String,
    /// The session.
    pub session_id: Option<String>,
    /// The user.
    pub user_id: Option<String>,
    /// The tenant.
    pub tenant_id: Option<String>,
    /// SHA-256 of everything that would run.
    pub approval_digest: String,
    /// Whether the manifest calls the tool destructive: then its name has to be typed.
    pub destructive: bool,
    /// The lines to show, in order.
    pub details: Vec<Detail>,
}

impl ApprovalRequest {
    /// The one word that means yes.
    pub fn word(&self) -> &str {
        if self.destructive { &self.tool_name } else { "yes" }
    }
}
