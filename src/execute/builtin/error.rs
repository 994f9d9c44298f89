//! Why a built-in tool failed, in words that a model can act on.

use crate::text::Escaped;
use rustix::io::Errno;

/// A failure of a built-in tool.
#[derive(Debug, thiserror::Error)]
pub(super) enum BuiltinError {
    /// There is no such built-in.
    #[error("there is no built-in tool `{0}`")]
    UnknownTool(Escaped),
    /// The arguments are not what the tool's schema asks for.
    #[error("the arguments do not fit: {0}")]
    Arguments(Escaped),
    /// A path that cannot be canonical.
    #[error("`{path}` is not a path that a decided call can have: {why}")]
    Path {
        /// The path.
        path: Escaped,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The system refused something.
    #[error("cannot {doing} `{path}`: {}", reason(*.errno))]
    System {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The path it was tried on.
        path: Escaped,
        /// What the kernel said.
        errno: Errno,
    },
    /// The path is there, but not the kind of thing that the tool works on.
    #[error("`{path}` is {kind}, not {wanted}{hint}")]
    Kind {
        /// The path.
        path: Escaped,
        /// What it is.
        kind: &'static str,
        /// What was needed.
        wanted: &'static str,
        /// A way out that starts with `; `, or nothing.
        hint: &'static str,
    },
    /// A file is larger than one call returns.
    #[error(
        "`{path}` has {size} bytes from offset {offset} on, and one call returns at most {bound}; \
         read it in parts: pass limit and offset, or line_count and line, for each"
    )]
    TooLarge {
        /// The path.
        path: Escaped,
        /// Bytes from the offset to the end.
        size: u64,
        /// Where the reading would start.
        offset: u64,
        /// The most bytes that one call returns.
        bound: u64,
    },
    /// An offset lies behind the end of the file.
    #[error("offset {offset} lies behind the end of `{path}`, which has {size} bytes")]
    BeyondEnd {
        /// The path.
        path: Escaped,
        /// The offset asked for.
        offset: u64,
        /// The file's size.
        size: u64,
    },
    /// A file that was to be created is there.
    #[error("`{0}` exists; nothing was written (mode overwrite replaces it, append adds to it)")]
    Exists(Escaped),
    /// What was asked for does not fit what is there.
    #[error("cannot {doing} `{path}`: {why}")]
    Refused {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The path it was tried on.
        path: Escaped,
        /// Why, with a way out; text from files is escaped in it.
        why: String,
    },
    /// A part was done before something failed.
    #[error("{source}; before that, {done}")]
    Partial {
        /// The failure.
        source: Box<Self>,
        /// What was done.
        done: String,
    },
    /// A search pattern or glob that does not compile.
    #[error("the {what} is not usable: {detail}")]
    Pattern {
        /// `pattern` or `glob`.
        what: &'static str,
        /// What the compiler said.
        detail: Escaped,
    },
    /// A command's program cannot be run.
    #[error("cannot run `{program}`: {detail}")]
    Program {
        /// The program as it was named.
        program: Escaped,
        /// Why, with a way out.
        detail: String,
        /// The exit code: 127 for one that is missing, 126 for one that cannot be executed.
        code: u8,
    },
    /// Standard output or input broke.
    #[error("cannot {doing}: {source}")]
    Stream {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl BuiltinError {
    /// Makes a [`BuiltinError::System`] of an error number.
    pub(super) fn system(doing: &'static str, path: &str, errno: Errno) -> Self {
        Self::System { doing, path: crate::text::escape(path), errno }
    }

    /// Makes a [`BuiltinError::System`] of an I/O error; one without a number counts as `EIO`.
    pub(super) fn io(doing: &'static str, path: &str, error: &std::io::Error) -> Self {
        Self::system(doing, path, Errno::from_io_error(error).unwrap_or(Errno::IO))
    }

    /// The exit code of a command that could not be run.
    pub(super) const fn exit_code(&self) -> Option<u8> {
        if let Self::Program { code, .. } = self { Some(*code) } else { None }
    }

    /// Whether the same call may succeed a moment later, without anybody changing anything.
    pub(super) fn is_retryable(&self) -> bool {
        match self {
            Self::System { errno, .. } => {
                matches!(
                    *errno,
                    Errno::AGAIN | Errno::BUSY | Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::TXTBSY
                )
            }
            // What was done already does not come back by itself.
            Self::Partial { .. }
            | Self::Refused { .. }
            | Self::UnknownTool(_)
            | Self::Arguments(_)
            | Self::Path { .. }
            | Self::Kind { .. }
            | Self::TooLarge { .. }
            | Self::BeyondEnd { .. }
            | Self::Exists(_)
            | Self::Pattern { .. }
            | Self::Program { .. }
            | Self::Stream { .. } => false,
        }
    }
}

/// An error number in words, with a way out where there is one.
fn reason(errno: Errno) -> String {
    let known = match errno {
        Errno::NOENT => "it is not there, or the sandbox hides it; list_dir shows what is there",
        Errno::LOOP => {
            "a symbolic link stands in the way that was not there when the call was decided; call again with the real path"
        }
        Errno::NOTDIR => "a part of the path is not a folder",
        Errno::ACCESS | Errno::PERM => "permission denied, by the file's own permissions or by the sandbox",
        Errno::ROFS => {
            "it is read-only in this sandbox: it is protected, or the call was not decided as a write"
        }
        Errno::NOSPC | Errno::DQUOT => "there is no space left",
        Errno::FBIG => "the sandbox's limit on the size of a file is reached",
        Errno::ISDIR => "it is a folder",
        Errno::NAMETOOLONG => "the name is too long for the file system",
        Errno::NXIO => "it is a socket or a pipe that nobody serves",
        _ => return std::io::Error::from(errno).to_string(),
    };
    known.to_owned()
}
