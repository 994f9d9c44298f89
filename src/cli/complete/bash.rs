//! Registration for bash. Its words end at `=` and `:`, which stand inside ours (`-a k=v`), so the script puts them
//! together again and cuts the part that bash keeps off each candidate.

use clap_complete::env::{Bash, EnvCompleter};
use std::ffi::OsString;
use std::io::{Error, Write};
use std::path::Path;

/// bash, with words that may contain `=` and `:`.
pub(super) struct WholeWords;

const SCRIPT: &str = r#"_toolctl_complete() {
    local line=${COMP_LINE:0:COMP_POINT} words=() word i kept
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $line == [^[:blank:]]* ]]; then
            ((i == COMP_CWORD)) && word=$line
            words[${#words[@]}-1]+=$word
        else
            line=${line#"${line%%[![:blank:]]*}"}
            ((i == COMP_CWORD)) && word=$line
            words+=("$word")
        fi
        line=${line#"$word"}
    done
    kept=${words[${#words[@]}-1]}
    kept=${kept%"$2"}
    local IFS=$'\013'
    COMPREPLY=($(_CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX="$((${#words[@]} - 1))" VAR=bash COMPLETER -- "${words[@]}" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace
    fi
}
complete -o nosort -F _toolctl_complete BIN
"#;

/// A word as bash reads it literally.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl EnvCompleter for WholeWords {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        var: &str,
        _name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> Result<(), Error> {
        let script =
            SCRIPT.replace("VAR", var).replace("BIN", &quoted(bin)).replace("COMPLETER", &quoted(completer));
        buf.write_all(script.as_bytes())
    }

    fn write_complete(
        &self,
        cmd: &mut clap::Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn Write,
    ) -> Result<(), Error> {
        Bash.write_complete(cmd, args, current_dir, buf)
    }
}
