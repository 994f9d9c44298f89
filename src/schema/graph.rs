//! The schema as a graph of references: loops without progress, and how much a schema expands to.
//!
//! `{"$ref": "#"}` would send a validator in circles on one and the same value; a chain of `allOf` that refers to the next
//! link twice doubles the work with each link. Both are refused before anything is compiled. A tree that refers to itself
//! through `properties` or `items` is fine: each step goes deeper into the value, whose depth is bounded.

use super::compile::SchemaFault;
use super::keywords::{Applies, children};
use super::reference::Names;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Longest path through schemas and references, as a compiler would walk it.
const MAX_DEPTH: usize = 200;
/// Most schemas that may be applied to one value.
const MAX_EXPANSION: u64 = 20_000;

enum State {
    Open,
    Done(u64),
}

struct Search<'a> {
    root: &'a Value,
    names: &'a Names,
    states: HashMap<usize, State>,
    deep: HashSet<usize>,
    faults: Vec<SchemaFault>,
}

/// The loops and explosions of a schema.
pub(super) fn faults(root: &Value, names: &Names) -> Vec<SchemaFault> {
    let mut search = Search { root, names, states: HashMap::new(), deep: HashSet::new(), faults: Vec::new() };
    search.visit("", root, 0);
    search.faults
}

fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}

impl<'a> Search<'a> {
    /// Visits every schema once; those applied to the same value are weighed on the way.
    fn visit(&mut self, pointer: &str, schema: &'a Value, depth: usize) {
        if !self.deep.insert(address(schema)) {
            return;
        }
        if depth > MAX_DEPTH {
            if !self.faults.iter().any(|fault| fault.message.contains("levels")) {
                self.fault(
                    pointer,
                    format!("the schema is nested deeper than {MAX_DEPTH} levels, references included"),
                );
            }
            return;
        }
        self.weigh(pointer, schema, 0);
        let Value::Object(map) = schema else { return };
        for child in children(map, pointer) {
            self.visit(&child.pointer, child.schema, depth + 1);
        }
        for (target, schema) in self.names.targets(self.root, map) {
            self.visit(&target, schema, depth + 1);
        }
    }

    /// How many schemas are applied to one value, from this one on.
    fn weigh(&mut self, pointer: &str, schema: &'a Value, depth: usize) -> u64 {
        match self.states.get(&address(schema)) {
            Some(State::Done(weight)) => return *weight,
            Some(State::Open) => {
                self.fault(
                    pointer,
                    "the schema refers to itself without going into the value, which never ends".to_owned(),
                );
                return 0;
            }
            None => {}
        }
        let Value::Object(map) = schema else { return 1 };
        if depth > MAX_DEPTH {
            return 1;
        }
        self.states.insert(address(schema), State::Open);
        let mut weight = 1_u64;
        for child in children(map, pointer) {
            match child.applies {
                Applies::Same | Applies::Maybe | Applies::Not => {
                    weight = weight.saturating_add(self.weigh(&child.pointer, child.schema, depth + 1));
                }
                Applies::Part | Applies::Nothing => {}
            }
        }
        for (target, schema) in self.names.targets(self.root, map) {
            weight = weight.saturating_add(self.weigh(&target, schema, depth + 1));
        }
        self.states.insert(address(schema), State::Done(weight));
        if weight > MAX_EXPANSION {
            self.fault(pointer, format!("the schema applies more than {MAX_EXPANSION} schemas to one value"));
        }
        weight
    }

    fn fault(&mut self, pointer: &str, message: String) {
        if self.faults.len() < super::lint::MAX_FAULTS {
            self.faults.push(SchemaFault { pointer: pointer.to_owned(), message });
        }
    }
}
