//! Judges lines of a file of calls. Any thread may do it: what needs the session (opening a tool, printing) is left to
//! the thread that has it.

use super::exit::Exit;
use super::failure::{ArgumentFault, Failure};
use super::session::Session;
use super::validation::{accepted, refused};
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
    /// Taken as a whole by who judges many lines, so that threads do not meet at every line.
    known: RwLock<Arc<Known>>,
}

/// Tools by name, broken ones too. A name that is no tool is not kept, so a file of such names cannot fill the memory.
type Known = HashMap<String, Arc<Result<Validator, Failure>>>;

impl<'a> Judging<'a> {
    /// Judges calls of this project's tools.
    pub(crate) fn new(world: &'a dyn World, project: &'a Project, ctx: Context, format: Format) -> Self {
        Self { world, project, ctx, format, known: RwLock::default() }
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Judges lines. Of valid calls without a document only the number is given, before all others.
    pub(crate) fn lines<'l>(&self, lines: impl Iterator<Item = (u64, &'l [u8])>) -> (u64, Vec<(u64, Item)>) {
        let known = self.known();
        let (mut valid, mut items) = (0, Vec::new());
        for (number, line) in lines {
            let item = match parse_call(line, || format!("line-{number}")) {
                Ok(call) => self.judge(number, call, &known),
                Err(error) => {
                    let failure = Failure::Arguments(ArgumentFault::Call(error));
                    Item::Refused(Box::new(self.refusal(number, None, &failure)))
                }
            };
            match item {
                Item::Valid(None) => valid += 1,
                Item::Valid(Some(_)) | Item::Refused(_) | Item::Unopened(_) => items.push((number, item)),
            }
        }
        (valid, items)
    }

    fn judge(&self, number: u64, call: Call, known: &Known) -> Item {
        let validator = match known.get(&call.tool_name).map(AsRef::as_ref) {
            None => return Item::Unopened(Box::new(call)),
            Some(Err(failure)) => {
                return Item::Refused(Box::new(self.refusal(number, Some(names(&call)), failure)));
            }
            Some(Ok(validator)) => validator,
        };
        let filling = validator.filling(self.project, &self.ctx);
        let Call { tool_call_id: id, tool_name: tool, args } = call;
        let outcome = match self.format {
            Format::Human | Format::Json => filling.accept(self.world, args).map(|()| None),
            Format::Ndjson => {
                let call = Call { tool_call_id: id.clone(), tool_name: tool.clone(), args };
                filling
                    .ready(self.world, call)
                    .map(|ready| Some(placed(accepted(validator.tool(), &ready.call), number, Some(&id))))
            }
        };
        match outcome {
            Ok(document) => Item::Valid(document),
            Err(fault) => {
                let failure = Failure::Arguments(fault);
                Item::Refused(Box::new(self.refusal(number, Some((&id, &tool)), &failure)))
            }
        }
    }

    /// Opens the tool of a call that was handed back, and judges the call.
    pub(crate) fn open(&self, session: &mut Session<'_>, number: u64, call: Call) -> Item {
        let known = self.known();
        // Since the line was judged, one before it may have opened the tool.
        if known.contains_key(&call.tool_name) {
            return self.judge(number, call, &known);
        }
        drop(known);
        match Validator::open(session, self.project, &call.tool_name) {
            Err(failure @ Failure::UnknownTool(_)) => {
                Item::Refused(Box::new(self.refusal(number, Some(names(&call)), &failure)))
            }
            opened => {
                let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                Arc::make_mut(&mut known).insert(call.tool_name.clone(), Arc::new(opened));
                drop(known);
                self.judge(number, call, &self.known())
            }
        }
    }

    /// `names`: id and tool of the call, if the line is one.
    fn refusal(&self, number: u64, names: Option<(&str, &str)>, failure: &Failure) -> Refusal {
        let (id, tool) = names.unzip();
        let document =
            (self.format != Format::Human).then(|| placed(refused(tool.unwrap_or(""), failure), number, id));
        let mut diagnostics = failure.diagnostics_about(names.map(|(_, tool)| tool));
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
