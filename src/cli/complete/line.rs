//! What is already on the command line while the next word is completed.

use std::ffi::OsString;
use std::path::PathBuf;

/// The parts of an unfinished command line that candidates depend on.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// The value of `-C`.
    pub(super) directory: Option<PathBuf>,
    /// The first word that is neither a command, an option nor an option's value: the tool of a call.
    pub(super) tool: Option<String>,
    /// The names of arguments that have a value already.
    pub(super) given: Vec<String>,
}

impl Line {
    /// Reads the words, the program's name included, as far as they make sense. `root` has been built.
    pub(super) fn read(words: &[OsString], root: &clap::Command) -> Self {
        let mut line = Self::default();
        let mut command = root;
        let mut words = words.iter().skip(1);
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if text == "--" {
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                let takes = |arg: &clap::Arg| arg.get_long() == Some(long) && takes_value(arg);
                if command.get_arguments().any(takes) {
                    words.next();
                }
            } else if let Some(short) = text.strip_prefix('-').and_then(|rest| rest.chars().next()) {
                let takes = |arg: &clap::Arg| arg.get_short() == Some(short) && takes_value(arg);
                if !command.get_arguments().any(takes) {
                    continue;
                }
                let attached = text.chars().skip(2).collect::<String>();
                let value = if attached.is_empty() { words.next().cloned() } else { Some(attached.into()) };
                line.option(short, value);
            } else if let Some(sub) = command.find_subcommand(text.as_ref()).filter(|_| line.tool.is_none()) {
                command = sub;
            } else if line.tool.is_none() {
                line.tool = Some(text.into_owned());
            }
        }
        line
    }

    fn option(&mut self, short: char, value: Option<OsString>) {
        match (short, value) {
            ('C', Some(value)) => self.directory = Some(value.into()),
            ('a', Some(value)) => {
                let text = value.to_string_lossy();
                if let Some((name, _)) = text.split_once('=') {
                    self.given.push(name.trim_end_matches(':').to_owned());
                }
            }
            (_, _) => {}
        }
    }
}

fn takes_value(arg: &clap::Arg) -> bool {
    arg.get_num_args().is_some_and(|range| range.takes_values())
}

#[cfg(test)]
mod tests {
    use super::Line;
    use crate::cli::args::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn the_tool_and_the_folder_are_found() {
        let mut root = Cli::command();
        root.build();
        for (line, tool, directory, given) in [
            ("run read_file -a path=x -a ", Some("read_file"), None, &["path"][..]),
            ("-C sub --format json run --mode plan t", Some("t"), Some("sub"), &[]),
            ("policy explain t -ax:=1", Some("t"), None, &["x"]),
            ("-Csub policy explain", None, Some("sub"), &[]),
            ("run -a path=x", None, None, &["path"]),
            ("run t -- -a x=1", Some("t"), None, &[]),
            ("run", None, None, &[]),
            ("run -a", None, None, &[]),
        ] {
            let words: Vec<_> = std::iter::once("toolctl").chain(line.split(' ')).map(Into::into).collect();
            let expected = Line {
                tool: tool.map(str::to_owned),
                directory: directory.map(Into::into),
                given: given.iter().map(|name| (*name).to_owned()).collect(),
            };
            assert_eq!(Line::read(&words, &root), expected, "{line}");
        }
    }
}
