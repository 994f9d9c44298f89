//! Judges lines of a file of calls. Any thread may do it: what needs the session (opening a tool, printing) is left to
//! the thread that has it.

use super::commands::validate::{accepted, refused};
use super::exit::Exit;
use super::failure::{ArgumentFault, Failure};
use super::session::Session;
use super::validator::Validator;
use crate::call::{Call, parse_call};
use crate::diag::Diagnostic;
use crate::model::Context;
use crate::project::Project;
use crate::term::Format;
use crate::text::escape;
use crate::world::World;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Most characters of a name in a message.
const MAX_NAME: usize = 60;

/// What there is to say of one line.
pub(crate) enum Item {
    /// The call is valid; its document, if those of valid calls are wanted.
    Valid(Option<Value>),
    /// The call is not valid.
    Refused(Box<Refusal>),
    /// Nobody has opened this tool yet.
    Unopened(Box<Call>),
}

/// Why a line was refused.
pub(crate) struct Refusal {
    /// The exit code of the line alone.
    pub(crate) exit: Exit,
    /// Its document, if documents are wanted.
    pub(crate) document: Option<Value>,
    /// What is said to people.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The tools met so far and what their calls are judged by.
pub(crate) struct Judging<'a> {
    world: &'a dyn World,
    project: &'a Project,
    ctx: Context,
    format: Format,
    /// Broken tools too. A name that is no tool is not kept, so a file of such names cannot fill the memory.
    known: RwLock<HashMap<String, Arc<Result<Validator, Failure>>>>,
}

impl<'a> Judging<'a> {
    /// Judges calls of this project's tools.
    pub(crate) fn new(world: &'a dyn World, project: &'a Project, ctx: Context, format: Format) -> Self {
        Self { world, project, ctx, format, known: RwLock::default() }
    }

    /// Judges a line.
    pub(crate) fn line(&self, number: u64, line: &[u8]) -> Item {
        match parse_call(line, || format!("line-{number}")) {
            Ok(call) => self.call(number, call),
            Err(error) => {
                let failure = Failure::Arguments(ArgumentFault::Call(error));
                Item::Refused(Box::new(self.refusal(number, None, &failure)))
            }
        }
    }

    /// Judges a call of a tool that is open; hands it back if the tool is not.
    pub(crate) fn call(&self, number: u64, call: Call) -> Item {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&call.tool_name).cloned();
        match known.as_deref() {
            None => Item::Unopened(Box::new(call)),
            Some(Err(failure)) => Item::Refused(Box::new(self.refusal(number, Some(names(&call)), failure))),
            Some(Ok(validator)) => self.judge(number, call, validator),
        }
    }

    fn judge(&self, number: u64, call: Call, validator: &Validator) -> Item {
        let filling = validator.filling(self.project, &self.ctx);
        let names = (call.tool_call_id.clone(), call.tool_name.clone());
        let outcome = match self.format {
            Format::Human | Format::Json => filling.accept(self.world, call).map(|()| None),
            Format::Ndjson => filling
                .ready(self.world, call)
                .map(|ready| Some(placed(accepted(validator.tool(), &ready.call), number, Some(&names.0)))),
        };
        match outcome {
            Ok(document) => Item::Valid(document),
            Err(fault) => {
                let names = Some((names.0.as_str(), names.1.as_str()));
                Item::Refused(Box::new(self.refusal(number, names, &Failure::Arguments(fault))))
            }
        }
    }

    /// Opens the tool of a call that was handed back, and judges the call.
    pub(crate) fn open(&self, session: &mut Session<'_>, number: u64, call: Call) -> Item {
        match Validator::open(session, self.project, &call.tool_name) {
            Err(failure @ Failure::UnknownTool(_)) => {
                Item::Refused(Box::new(self.refusal(number, Some(names(&call)), &failure)))
            }
            opened => {
                let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                known.insert(call.tool_name.clone(), Arc::new(opened));
                drop(known);
                self.call(number, call)
            }
        }
    }

    /// `names`: id and tool of the call, if the line is one.
    fn refusal(&self, number: u64, names: Option<(&str, &str)>, failure: &Failure) -> Refusal {
        let (id, tool) = names.unzip();
        let document =
            (self.format != Format::Human).then(|| placed(refused(tool.unwrap_or(""), failure), number, id));
        let mut diagnostics = failure.diagnostics();
        let who = names.map_or_else(String::new, |(id, tool)| format!(" (`{}`, {})", clip(tool), clip(id)));
        for diagnostic in &mut diagnostics {
            diagnostic.message = format!("line {number}{who}: {}", diagnostic.message);
        }
        Refusal { exit: failure.exit(), document, diagnostics }
    }
}

fn names(call: &Call) -> (&str, &str) {
    (&call.tool_call_id, &call.tool_name)
}

fn clip(text: &str) -> String {
    let short: String = text.chars().take(MAX_NAME).collect();
    escape(&short).to_string()
}

/// A document with the place of its call in the input.
fn placed(mut document: Value, number: u64, id: Option<&str>) -> Value {
    if let Value::Object(map) = &mut document {
        map.insert("line".to_owned(), json!(number));
        if let Some(id) = id {
            map.insert("toolCallId".to_owned(), json!(id));
        }
    }
    document
}
