//! From a path to a tree of values: reads a manifest, policy or settings file.

use super::files::Files;
use super::json::{JsonLimits, parse_json, parse_outline};
use super::node::Node;
use super::outline::Outline;
use super::yaml::{AliasBudget, parse_yaml_with};
use crate::diag::{Code, Diagnostic};
use crate::text::{FileId, Span, escape};
use crate::world::World;
use std::borrow::Cow;
use std::io;
use std::path::Path;

/// Largest manifest, policy or settings file, in bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// A file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Where its text is registered.
    pub id: FileId,
    /// Its value.
    pub node: Node,
}

/// Reads a file without aliases; `shown` is the path that people shall see.
///
/// The kind is told by the extension: `.yaml`, `.yml` or `.json`. The text is registered even if it is faulty, so
/// that the diagnostics can show it.
pub fn read_source(
    world: &dyn World,
    files: &mut Files,
    path: &Path,
    shown: &Path,
) -> Result<Source, Vec<Diagnostic>> {
    read_source_with(world, files, path, shown, AliasBudget::None)
}

/// Reads a file that may have as many aliases as the budget says; else as [`read_source`].
pub fn read_source_with(
    world: &dyn World,
    files: &mut Files,
    path: &Path,
    shown: &Path,
    aliases: AliasBudget,
) -> Result<Source, Vec<Diagnostic>> {
    let (id, json) = register(world, files, path, shown)?;
    let node = if json {
        parse_json(files, id, JsonLimits::FILE).map_err(|diagnostic| vec![diagnostic])
    } else {
        parse_yaml_with(files, id, aliases)
    };
    node.map(|node| Source { id, node })
}

/// What was read of a file of which only parts may be needed.
#[derive(Debug, Clone)]
pub enum Read {
    /// The outline of a JSON file.
    Outline(Outline),
    /// The tree of a YAML file.
    Node(Node),
}

impl Read {
    /// The whole tree, whichever way the file was read. `files` has to be the registry that it was read into.
    pub fn tree(&self, files: &Files) -> Cow<'_, Node> {
        match self {
            Self::Outline(outline) => Cow::Owned(outline.root(files).node()),
            Self::Node(node) => Cow::Borrowed(node),
        }
    }
}

/// Reads a file without aliases, as [`read_source`] does, and JSON no further than to its outline.
pub fn read_outline(
    world: &dyn World,
    files: &mut Files,
    path: &Path,
    shown: &Path,
) -> Result<(FileId, Read), Vec<Diagnostic>> {
    let (id, json) = register(world, files, path, shown)?;
    let read = if json {
        parse_outline(files, id, JsonLimits::FILE)
            .map(Read::Outline)
            .map_err(|diagnostic| vec![diagnostic])?
    } else {
        Read::Node(parse_yaml_with(files, id, AliasBudget::None)?)
    };
    Ok((id, read))
}

/// Registers the text of a file; whether it is JSON rather than YAML.
fn register(
    world: &dyn World,
    files: &mut Files,
    path: &Path,
    shown: &Path,
) -> Result<(FileId, bool), Vec<Diagnostic>> {
    let text = read_text(world, files, path, shown).map_err(|diagnostic| vec![diagnostic])?;
    let json = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => true,
        Some("yaml" | "yml") => false,
        _ => {
            let message = format!("{} is neither YAML nor JSON", name(shown));
            let help = "name the file .yaml, .yml or .json";
            return Err(vec![Diagnostic::error(Code::SourceUnreadable, message).help(help)]);
        }
    };
    Ok((files.add(shown, text), json))
}

fn read_text(world: &dyn World, files: &mut Files, path: &Path, shown: &Path) -> Result<String, Diagnostic> {
    let bytes = world.read(path, MAX_FILE_BYTES).map_err(|error| unreadable(&error, shown))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        // Up to the fault, the text with stand-ins is the text itself, so the place is right in both.
        let id = files.add(shown, text);
        let at = u32::try_from(valid).unwrap_or(u32::MAX);
        Diagnostic::error(Code::SourceUnreadable, format!("{} is not UTF-8", name(shown)))
            .at(Span::new(id, at, at.saturating_add(3)), "not a character in UTF-8")
            .help("save the file as UTF-8")
    })
}

fn unreadable(error: &io::Error, shown: &Path) -> Diagnostic {
    let name = name(shown);
    match error.kind() {
        io::ErrorKind::FileTooLarge => Diagnostic::error(
            Code::SourceTooLarge,
            format!("{name} is larger than {} KiB", MAX_FILE_BYTES / 1024),
        )
        .help("split it into several files"),
        io::ErrorKind::NotFound => {
            Diagnostic::error(Code::SourceUnreadable, format!("{name} does not exist"))
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => {
            Diagnostic::error(Code::SourceUnreadable, format!("{name} is not a regular file"))
        }
        _ => Diagnostic::error(
            Code::SourceUnreadable,
            format!("{name} cannot be read: {}", escape(&error.to_string())),
        ),
    }
}

fn name(shown: &Path) -> String {
    format!("`{}`", escape(&shown.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::{MAX_FILE_BYTES, read_source, read_source_with};
    use crate::diag::Code;
    use crate::source::{AliasBudget, Files};
    use crate::world::MemoryWorld;
    use std::path::Path;

    fn read(world: &MemoryWorld, name: &str) -> Result<serde_json::Value, (Code, String)> {
        let mut files = Files::new();
        read_source(world, &mut files, &Path::new("/ws").join(name), Path::new(name))
            .map(|source| {
                assert_eq!(files.path(source.id), Path::new(name));
                source.node.to_value()
            })
            .map_err(|diagnostics| (diagnostics[0].code, diagnostics[0].message.clone()))
    }

    #[test]
    fn the_extension_tells_the_kind() {
        let world = MemoryWorld::new("/ws")
            .with_file("/ws/a.yaml", "a: [x]")
            .with_file("/ws/a.yml", "a: [x]")
            .with_file("/ws/a.json", r#"{"a": ["x"]}"#)
            .with_file("/ws/b.json", "a: [x]")
            .with_file("/ws/a.txt", "a: [x]");
        for name in ["a.yaml", "a.yml", "a.json"] {
            assert_eq!(read(&world, name).unwrap(), serde_json::json!({"a": ["x"]}), "{name}");
        }
        assert_eq!(read(&world, "b.json").unwrap_err().0, Code::SourceJson);
        assert_eq!(read(&world, "a.txt").unwrap_err().0, Code::SourceUnreadable);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let max = usize::try_from(MAX_FILE_BYTES).unwrap();
        let padded = |size: usize| format!("a: 1\n#{}", "x".repeat(size - 6));
        let world = MemoryWorld::new("/ws")
            .with_file("/ws/fits.yaml", padded(max))
            .with_file("/ws/large.yaml", padded(max + 1))
            .with_file("/ws/latin.yaml", b"a: \xe4 \xff\n")
            .with_dir("/ws/dir.yaml");
        assert!(read(&world, "fits.yaml").is_ok());
        let cases = [
            ("large.yaml", Code::SourceTooLarge, "`large.yaml` is larger than 1024 KiB"),
            ("latin.yaml", Code::SourceUnreadable, "`latin.yaml` is not UTF-8"),
            ("none.yaml", Code::SourceUnreadable, "`none.yaml` does not exist"),
            ("dir.yaml", Code::SourceUnreadable, "`dir.yaml` is not a regular file"),
        ];
        for (file, code, message) in cases {
            assert_eq!(read(&world, file).unwrap_err(), (code, message.to_owned()));
        }
    }

    #[test]
    fn aliases_need_the_budget() {
        let world = MemoryWorld::new("/ws").with_file("/ws/a.yaml", "a: &x 1\nb: *x\n");
        let path = Path::new("/ws/a.yaml");
        let mut files = Files::new();
        assert!(read_source(&world, &mut files, path, path).is_err());
        assert!(read_source_with(&world, &mut files, path, path, AliasBudget::Few).is_ok());
    }
    /// The example of a page does what the page says.
    #[test]
    fn the_pages_show_what_triggers_them() {
        for (code, name) in
            [(Code::SourceYaml, "a.yaml"), (Code::SourceJson, "a.json"), (Code::SourceDuplicateKey, "a.yaml")]
        {
            let example = code.page().split("```").nth(1).unwrap().split_once('\n').unwrap().1;
            let world = MemoryWorld::new("/ws").with_file(Path::new("/ws").join(name), example);
            assert_eq!(read(&world, name).unwrap_err().0, code, "{example}");
        }
    }
}
