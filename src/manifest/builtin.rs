//! The definitions of the built-in tools, embedded so that they work with no project at all.

use crate::model::{Effect, EffectSet};

/// The names of all built-in tools.
pub const BUILTIN_NAMES: &[&str] = &[
    "delete_file",
    "edit_file",
    "file_info",
    "find_files",
    "list_dir",
    "move_file",
    "read_file",
    "run_command",
    "search_text",
    "write_file",
];

/// The manifest of a built-in tool: JSON in the format of every other manifest.
pub fn builtin_source(name: &str) -> Option<&'static str> {
    Some(match name {
        "delete_file" => include_str!("builtin/delete_file.json"),
        "edit_file" => include_str!("builtin/edit_file.json"),
        "file_info" => include_str!("builtin/file_info.json"),
        "find_files" => include_str!("builtin/find_files.json"),
        "list_dir" => include_str!("builtin/list_dir.json"),
        "move_file" => include_str!("builtin/move_file.json"),
        "read_file" => include_str!("builtin/read_file.json"),
        "run_command" => include_str!("builtin/run_command.json"),
        "search_text" => include_str!("builtin/search_text.json"),
        "write_file" => include_str!("builtin/write_file.json"),
        _ => return None,
    })
}

/// What a built-in tool may do: a fact of the code, to which policies may add and from which they cannot take.
pub fn builtin_effects(name: &str) -> Option<EffectSet> {
    match name {
        "file_info" | "find_files" | "list_dir" | "read_file" | "search_text" => {
            Some(EffectSet::of(Effect::Read))
        }
        "delete_file" | "edit_file" | "move_file" | "write_file" => Some(EffectSet::of(Effect::Write)),
        "run_command" => Some(EffectSet::of(Effect::Write).with(Effect::Execute)),
        _ => None,
    }
}

/// What a built-in tool touches of the files that its sandbox shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltinReach {
    /// The content of just the paths of its arguments, and names below them.
    Arguments,
    /// The paths of its arguments and all that is below them.
    Trees,
    /// Anything.
    Workspace,
}

/// What a built-in tool touches: a fact of the code.
pub fn builtin_reach(name: &str) -> BuiltinReach {
    match name {
        "edit_file" | "file_info" | "find_files" | "list_dir" | "read_file" | "write_file" => {
            BuiltinReach::Arguments
        }
        "delete_file" | "move_file" => BuiltinReach::Trees,
        _ => BuiltinReach::Workspace,
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILTIN_NAMES, builtin_effects, builtin_source};
    use crate::manifest::testing::node;
    use crate::manifest::{Exec, Origin, decode, lint, unsupported};
    use crate::schema::Schema;
    use crate::source::Decoder;
    use serde_json::Value;

    #[test]
    fn every_name_has_a_strict_definition_and_effects() {
        for name in BUILTIN_NAMES {
            let tool: Value = serde_json::from_str(builtin_source(name).unwrap()).unwrap();
            assert_eq!(tool["name"], **name);
            assert_eq!(tool["builtin"], **name);
            assert_eq!(tool["parameters"]["additionalProperties"], false);
            assert!(tool["description"].as_str().unwrap().len() > 40);
            assert!(!tool["inputExamples"].as_array().unwrap().is_empty());
            assert_eq!(tool["readOnly"], builtin_effects(name).unwrap().is_only_read());
            let binds = &tool["sandbox"]["allowFS"];
            assert_eq!(binds.get("readWrite").is_none(), builtin_effects(name).unwrap().is_only_read());
        }
        assert_eq!((builtin_source("nothing"), builtin_effects("nothing")), (None, None));
    }

    /// The decoder checks the examples against the schema, and `lint` what else `check` would warn of.
    #[test]
    fn every_definition_is_decoded_without_any_finding() {
        for name in BUILTIN_NAMES {
            let value: Value = serde_json::from_str(builtin_source(name).unwrap()).unwrap();
            let mut decoder = Decoder::new();
            let origin = Origin { file: None, dir: None, stem: Some(name), bytes_digest: String::new() };
            let tool = decode(&mut decoder, &node(&value), origin);
            assert_eq!(decoder.into_diagnostics(), [], "{name}");
            let tool = tool.unwrap();
            assert!(matches!(&tool.exec, Exec::Builtin(builtin) if builtin == name));
            assert_eq!((lint(&tool), unsupported(&tool)), (vec![], vec![]), "{name}");
        }
    }

    #[test]
    fn an_argument_that_does_not_exist_breaks_every_schema() {
        for name in BUILTIN_NAMES {
            let tool: Value = serde_json::from_str(builtin_source(name).unwrap()).unwrap();
            let (schema, warnings) = Schema::compile_tool(&tool["parameters"]).unwrap();
            assert!(warnings.is_empty(), "{name}");
            for example in tool["inputExamples"].as_array().unwrap() {
                assert!(schema.check(example).is_empty(), "{name}: {example}");
                let mut wrong = example.clone();
                wrong["no_such_argument"] = Value::Bool(true);
                assert!(!schema.check(&wrong).is_empty(), "{name}");
            }
        }
    }
}
