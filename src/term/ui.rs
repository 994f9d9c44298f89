//! Standard output and error: who may write what to which, in which format.
//!
//! Standard output carries the result: text in the human format, JSON documents otherwise. Everything else goes to
//! standard error, as text. Every write can fail and says so: a result that was not written is not a success.

use super::color::ColorChoice;
use super::output::{escape_json, escape_output};
use super::progress::Progress;
use super::render::render;
use super::table::Table;
use super::text::Text;
use crate::diag::{Diagnostic, Severity};
use crate::source::Files;
use crate::text::Escaped;
use crate::world::World;
use serde::Serialize;
use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Columns of a stream that is no terminal, for diagnostics.
const DEFAULT_WIDTH: u16 = 120;
/// A terminal that says it is narrower is taken as this wide.
const MIN_WIDTH: u16 = 40;

/// The value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Text for people.
    #[default]
    Human,
    /// Exactly one JSON document.
    Json,
    /// One JSON document a line.
    Ndjson,
}

/// What the flags say about output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UiOptions {
    /// `--format`.
    pub format: Format,
    /// `--color`.
    pub color: ColorChoice,
    /// `-q`: only errors on standard error, and with a JSON format not even these.
    pub quiet: bool,
    /// How often `-v` was given.
    pub verbose: u8,
}

/// Why output was not written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The reader has closed its end. What was read so far was enough for it.
    #[error("the reader of {stream} has gone")]
    BrokenPipe {
        /// `standard output` or `standard error`.
        stream: &'static str,
    },
    /// Writing failed.
    #[error("cannot write to {stream}: {source}")]
    Write {
        /// `standard output` or `standard error`.
        stream: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A report was not written.
    #[error("cannot write {path}: {source}")]
    File {
        /// The file.
        path: Escaped,
        /// What the system says.
        source: io::Error,
    },
    /// The value has no JSON form.
    #[error("cannot write the result as JSON: {0}")]
    Encode(#[from] serde_json::Error),
    /// A second document where the format promises exactly one.
    #[error("a second JSON document was to be written")]
    SecondDocument,
}

struct Stream {
    name: &'static str,
    writer: Box<dyn Write + Send>,
    color: bool,
    terminal: bool,
    width: Option<u16>,
}

impl Stream {
    fn write(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        let stream = self.name;
        self.writer.write_all(bytes).and_then(|()| self.writer.flush()).map_err(|source| {
            match source.kind() {
                io::ErrorKind::BrokenPipe => OutputError::BrokenPipe { stream },
                _ => OutputError::Write { stream, source },
            }
        })
    }

    fn line(&mut self, text: &Text) -> Result<(), OutputError> {
        let line = text.render(self.color) + "\n";
        self.write(line.as_bytes())
    }
}

/// An error without a way out of its own names the page of its code; the last of several with one code does.
fn with_ways_out(mut shown: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut named = Vec::new();
    for diagnostic in shown.iter_mut().rev() {
        let bare = diagnostic.severity == Severity::Error && diagnostic.help.is_empty();
        if bare && !named.contains(&diagnostic.code) {
            named.push(diagnostic.code);
            diagnostic
                .help
                .push(format!("what it means and what to do: toolctl explain {}", diagnostic.code.as_str()));
        }
    }
    shown
}

/// Owner of standard output and error.
pub struct Ui {
    out: Stream,
    err: Stream,
    options: UiOptions,
    documents: u64,
    /// Diagnostics were written: the next ones stand apart from them.
    diagnosed: bool,
}

impl fmt::Debug for Ui {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ui").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Ui {
    /// The streams of this process. The environment is asked for the usual colour variables.
    pub fn stdio(world: &dyn World, options: UiOptions) -> Self {
        let stream = |name, writer: Box<dyn Write + Send>, terminal, width| Stream {
            name,
            writer,
            color: options.color.resolve(world, terminal),
            terminal,
            width,
        };
        let (out, err) = (io::stdout(), io::stderr());
        let (out_terminal, err_terminal) = (out.is_terminal(), err.is_terminal());
        let (out_width, err_width) = (columns(&out), columns(&err));
        Self {
            out: stream("standard output", Box::new(out), out_terminal, out_width),
            err: stream("standard error", Box::new(err), err_terminal, err_width),
            options,
            documents: 0,
            diagnosed: false,
        }
    }

    /// Streams that are kept in memory, for tests. `terminal` says whether both shall pass for a terminal.
    pub fn captured(world: &dyn World, options: UiOptions, terminal: bool) -> (Self, Captured) {
        let captured = Captured::default();
        let stream = |name, buffer: &Buffer| Stream {
            name,
            writer: Box::new(buffer.clone()),
            color: options.color.resolve(world, terminal),
            terminal,
            width: terminal.then_some(80),
        };
        let ui = Self {
            out: stream("standard output", &captured.out),
            err: stream("standard error", &captured.err),
            options,
            documents: 0,
            diagnosed: false,
        };
        (ui, captured)
    }

    /// What the flags say.
    pub const fn options(&self) -> UiOptions {
        self.options
    }

    /// `--format`.
    pub const fn format(&self) -> Format {
        self.options.format
    }

    /// Whether standard error is a terminal, so that progress may be shown on it.
    pub const fn err_is_terminal(&self) -> bool {
        self.err.terminal
    }

    /// Progress of long work, in bytes: on a terminal only, and not with `-q`, `-v` or documents on that same terminal.
    pub fn progress(&self, length: Option<u64>) -> Progress {
        let documents = self.options.format != Format::Human && self.out.terminal;
        let silent = self.options.quiet || self.options.verbose > 0;
        Progress::new(self.err.terminal && !documents && !silent, length)
    }

    /// Writes diagnostics to standard error, as text whatever the format: with `-q` errors alone, and nothing in the
    /// JSON formats.
    pub fn diagnostics(&mut self, files: &Files, diagnostics: &[Diagnostic]) -> Result<(), OutputError> {
        let shown: Vec<_> = match (self.options.quiet, self.options.format) {
            (false, _) => diagnostics.to_vec(),
            (true, Format::Human) => {
                diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect()
            }
            (true, Format::Json | Format::Ndjson) => Vec::new(),
        };
        if shown.is_empty() {
            return Ok(());
        }
        let shown = with_ways_out(shown);
        let width = self.err.width.unwrap_or(DEFAULT_WIDTH);
        let text = render(files, &shown, self.err.color, usize::from(width));
        if std::mem::replace(&mut self.diagnosed, true) {
            self.err.write(b"\n")?;
        }
        self.err.write(text.as_bytes())
    }

    /// Writes a JSON document and a line feed to standard output, hidden characters as escapes. In the format `json`
    /// a second document is refused.
    pub fn document<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), OutputError> {
        if self.options.format == Format::Json && self.documents > 0 {
            return Err(OutputError::SecondDocument);
        }
        let json = escape_json(&serde_json::to_string(value)?) + "\n";
        self.documents += 1;
        self.out.write(json.as_bytes())
    }

    /// Writes what a tool wrote to standard output: the bytes themselves into a pipe or a file, the visible form on a
    /// terminal. In the JSON formats it is part of the document, and this writes nothing.
    pub fn tool_output(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        if self.options.format != Format::Human || bytes.is_empty() {
            return Ok(());
        }
        if !self.out.terminal {
            return self.out.write(bytes);
        }
        let mut text = escape_output(bytes);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        self.out.write(text.as_bytes())
    }

    /// Writes what a tool wrote to standard error, as [`Self::tool_output`] does for standard output.
    pub fn tool_messages(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        if self.options.format != Format::Human || bytes.is_empty() {
            return Ok(());
        }
        let mut text = if self.err.terminal { escape_output(bytes).into_bytes() } else { bytes.to_vec() };
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        self.err.write(&text)
    }

    /// Whether text for people is coloured, as the flags and the environment say; of the prompt's terminal too.
    pub const fn err_color(&self) -> bool {
        self.err.color
    }

    /// Whether a document was written.
    pub const fn has_written(&self) -> bool {
        self.documents > 0
    }

    /// Writes a line of the result to standard output; nothing in the JSON formats.
    pub fn line(&mut self, text: &Text) -> Result<(), OutputError> {
        if self.options.format == Format::Human { self.out.line(text) } else { Ok(()) }
    }

    /// Writes a table to standard output; nothing in the JSON formats. Cells wrap on a terminal alone, so that a line
    /// of a pipe is a row.
    pub fn table(&mut self, table: &Table) -> Result<(), OutputError> {
        // A header alone would look like an answer that got lost.
        if self.options.format != Format::Human || table.is_empty() {
            return Ok(());
        }
        let text = table.render(self.out.width);
        self.out.write(text.as_bytes())
    }

    /// Writes a remark to standard error, unless `-q`.
    pub fn say(&mut self, text: &Text) -> Result<(), OutputError> {
        if self.options.quiet { Ok(()) } else { self.err.line(text) }
    }

    /// Writes a detail to standard error, if `-v` was given.
    pub fn detail(&mut self, text: &Text) -> Result<(), OutputError> {
        if self.options.verbose > 0 { self.err.line(text) } else { Ok(()) }
    }

    /// Writes lines for another program that reads along, such as workflow commands: to standard output, or to standard
    /// error where that carries a document.
    pub fn commands(&mut self, lines: &str) -> Result<(), OutputError> {
        let stream = if self.options.format == Format::Human { &mut self.out } else { &mut self.err };
        stream.write(lines.as_bytes())
    }

    /// Writes `error: …` to standard error; with `-q` in the JSON formats the document has to say it.
    pub fn error(&mut self, text: &Text) -> Result<(), OutputError> {
        if self.options.quiet && self.options.format != Format::Human {
            return Ok(());
        }
        self.err.line(&Text::new().bad("error").plain(": ").then(text.clone()))
    }
}

/// Prints the program's name and version.
pub fn print_version() -> io::Result<()> {
    io::stdout().write_all(concat!("toolctl ", env!("CARGO_PKG_VERSION"), "\n").as_bytes())
}

/// Prints what a shell asked for while somebody types. The shell reads it; its caller has left out whatever a shell or a
/// terminal would act on.
pub fn print_candidates(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(bytes)?;
    out.flush()
}

/// The columns of a terminal; `None` for anything else.
pub(super) fn columns(fd: impl AsFd) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    (size.ws_col > 0).then(|| size.ws_col.max(MIN_WIDTH))
}

type Bytes = Arc<Mutex<Vec<u8>>>;

#[derive(Debug, Clone, Default)]
struct Buffer(Bytes);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a [`Ui::captured`] has written so far.
#[derive(Debug, Default)]
pub struct Captured {
    out: Buffer,
    err: Buffer,
}

impl Captured {
    /// The bytes of standard output.
    pub fn out(&self) -> Vec<u8> {
        self.out.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text of standard error.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.err.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Captured, Format, OutputError, Stream, Table, Text, Ui, UiOptions};
    use crate::diag::{Code, Diagnostic};
    use crate::source::Files;
    use crate::text::escape;
    use crate::world::MemoryWorld;
    use serde_json::json;
    use std::io::{self, Write};

    fn ui(format: Format, quiet: bool, terminal: bool) -> (Ui, Captured) {
        let options = UiOptions { format, quiet, ..UiOptions::default() };
        Ui::captured(&MemoryWorld::new("/ws"), options, terminal)
    }

    /// Calls everything once and returns both streams.
    fn all(format: Format, quiet: bool) -> (String, String) {
        let (mut ui, captured) = ui(format, quiet, false);
        let mut table = Table::new(&["name"]);
        table.row([escape("cell")]);
        let diagnostics = [
            Diagnostic::error(Code::SourceYaml, "fault").help("mend it"),
            Diagnostic::warning(Code::SourceYaml, "doubt"),
        ];
        ui.diagnostics(&Files::new(), &diagnostics).unwrap();
        ui.tool_output(b"tool\n").unwrap();
        ui.line(&Text::new().plain("line")).unwrap();
        ui.table(&table).unwrap();
        ui.say(&Text::new().plain("said")).unwrap();
        ui.detail(&Text::new().plain("detail")).unwrap();
        ui.error(&Text::new().plain("broken")).unwrap();
        if format != Format::Human {
            ui.document(&json!({"a": 1})).unwrap();
        }
        (String::from_utf8(captured.out()).unwrap(), captured.err())
    }

    #[test]
    fn each_stream_gets_its_own() {
        let (fault, doubt) =
            ("error[source/yaml]: fault\n |\n = help: mend it\n", "warning[source/yaml]: doubt\n");
        let loud = format!("{fault}\n{doubt}said\nerror: broken\n");
        let human = "tool\nline\nname\ncell\n".to_owned();
        let json = "{\"a\":1}\n".to_owned();
        assert_eq!(all(Format::Human, false), (human.clone(), loud.clone()));
        assert_eq!(all(Format::Human, true), (human, format!("{fault}error: broken\n")));
        for format in [Format::Json, Format::Ndjson] {
            assert_eq!(all(format, false), (json.clone(), loud.clone()));
            assert_eq!(all(format, true), (json.clone(), String::new()));
        }
    }

    #[test]
    fn json_is_exactly_one_document() {
        let (mut json, captured) = ui(Format::Json, false, true);
        json.document("a\u{202e}\u{1f600}\u{e0041}\u{7f}").unwrap();
        assert!(matches!(json.document(&1), Err(OutputError::SecondDocument)));
        assert_eq!(
            String::from_utf8(captured.out()).unwrap(),
            "\"a\\u202e\u{1f600}\\udb40\\udc41\\u007f\"\n"
        );
        let (mut ndjson, captured) = ui(Format::Ndjson, false, false);
        ndjson.document(&1).unwrap();
        ndjson.document(&json!({"a": [1.50]})).unwrap();
        assert_eq!(captured.out(), b"1\n{\"a\":[1.5]}\n");
    }

    #[test]
    fn tool_output_is_escaped_on_a_terminal_only() {
        let bytes = b"a\x1b[2J\xff\tb\nend";
        let (mut pipe, captured) = ui(Format::Human, false, false);
        pipe.tool_output(bytes).unwrap();
        assert_eq!(captured.out(), bytes);
        let (mut terminal, captured) = ui(Format::Human, false, true);
        terminal.tool_output(bytes).unwrap();
        assert_eq!(captured.out(), b"a\\u{1b}[2J\\xff\tb\nend\n");
    }

    struct Fails(io::ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_write_error_is_never_lost() {
        let fails = |kind| {
            let (mut ui, _) = ui(Format::Human, false, false);
            let out = Box::new(Fails(kind));
            ui.out =
                Stream { name: "standard output", writer: out, color: false, terminal: false, width: None };
            ui.line(&Text::new().plain("x")).unwrap_err()
        };
        assert!(matches!(fails(io::ErrorKind::BrokenPipe), OutputError::BrokenPipe { .. }));
        assert!(matches!(fails(io::ErrorKind::StorageFull), OutputError::Write { .. }));
    }
}
