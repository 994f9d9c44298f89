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

/// Most schemas one inside the other that are applied to one value: with the depth of values this bounds the stack.
const MAX_HEIGHT: u32 = 24;

enum State {
    Open,
    Done(Size),
}

/// What a schema comes to for one value.
#[derive(Clone, Copy)]
struct Size {
    /// Schemas applied.
    weight: u64,
    /// Schemas one inside the other.
    height: u32,
}

impl Size {
    const ONE: Self = Self { weight: 1, height: 1 };

    fn add(&mut self, part: Self) {
        self.weight = self.weight.saturating_add(part.weight);
        self.height = self.height.max(part.height.saturating_add(1));
    }
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
    fn weigh(&mut self, pointer: &str, schema: &'a Value, depth: usize) -> Size {
        match self.states.get(&address(schema)) {
            Some(State::Done(size)) => return *size,
            Some(State::Open) => {
                self.fault(
                    pointer,
                    "the schema refers to itself without going into the value, which never ends".to_owned(),
                );
                return Size::ONE;
            }
            None => {}
        }
        let Value::Object(map) = schema else { return Size::ONE };
        if depth > MAX_DEPTH {
            return Size { weight: 1, height: MAX_HEIGHT + 1 };
        }
        self.states.insert(address(schema), State::Open);
        let mut size = Size::ONE;
        for child in children(map, pointer) {
            match child.applies {
                Applies::Same | Applies::Maybe | Applies::Not => {
                    size.add(self.weigh(&child.pointer, child.schema, depth + 1));
                }
                Applies::Part | Applies::Nothing => {}
            }
        }
        for (target, schema) in self.names.targets(self.root, map) {
            size.add(self.weigh(&target, schema, depth + 1));
        }
        self.states.insert(address(schema), State::Done(size));
        if size.weight > MAX_EXPANSION {
            self.fault(pointer, format!("the schema applies more than {MAX_EXPANSION} schemas to one value"));
        } else if size.height == MAX_HEIGHT + 1 {
            self.fault(
                pointer,
                format!("more than {MAX_HEIGHT} schemas, one inside the other, apply to one value"),
            );
        }
        size
    }

    fn fault(&mut self, pointer: &str, message: String) {
        if self.faults.len() < super::lint::MAX_FAULTS {
            self.faults.push(SchemaFault { pointer: pointer.to_owned(), message });
        }
    }
}
