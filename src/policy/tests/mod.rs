//! Tests of whole decisions, through the real validation.

mod builtin;
mod decoding;
mod docs;
mod engine;
mod layers;
mod lazy;
mod matching;
mod properties;
mod semantics;

use super::{
    Action, Decided, Decision, Explanation, FactEnv, LegacyApproval, PolicySet, PolicySource, ToolFacts,
    check_for_tool, classify, decide, decide_for_plan, decode, explain, facts,
};
use crate::call::{Call, CallEnv, validate};
use crate::diag::{Code, Diagnostic};
use crate::model::{Context, EffectSet, Layer};
use crate::schema::Schema;
use crate::source::{Decoder, Files, parse_yaml};
use crate::world::MemoryWorld;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Decodes a policy, or gives its diagnostics.
pub(super) fn load(text: &str) -> Result<super::PolicyFile, Vec<Diagnostic>> {
    let mut files = Files::new();
    let id = files.add("test.yaml", text);
    let node = parse_yaml(&files, id)?;
    let mut decoder = Decoder::new();
    let file = decode(&mut decoder, &node);
    match file {
        Some(file) if !decoder.has_errors() => Ok(file),
        _ => Err(decoder.into_diagnostics()),
    }
}

/// A policy of a layer.
pub(super) fn source(text: &str, layer: Layer, trusted: bool) -> PolicySource {
    PolicySource {
        file: load(text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}")),
        layer,
        trusted,
        path: PathBuf::from("p.yaml"),
        text_digest: crate::canon::sha256(text.as_bytes()),
    }
}

/// A host policy with these rules.
pub(super) fn host(rules: &str) -> String {
    format!("policy: host\nformat: 1\nrole: host\ndefault: deny\nrules:\n{}", indent(rules))
}

pub(super) fn indent(text: &str) -> String {
    let text: Vec<String> = text.trim_matches('\n').lines().map(|line| format!("  {line}")).collect();
    text.join("\n")
}

/// A call in a world made of data.
pub(super) struct Lab {
    pub(super) world: MemoryWorld,
    pub(super) tool: ToolFacts,
    pub(super) ctx: Context,
    pub(super) protected: Vec<PathBuf>,
    pub(super) legacy: LegacyApproval,
    pub(super) untrusted: bool,
}

impl Lab {
    /// A tool of the project with this schema.
    pub(super) fn new(name: &str, properties: Value) -> Self {
        let mut parameters = json!({"type": "object", "additionalProperties": false});
        parameters["properties"] = properties;
        Self {
            world: MemoryWorld::new("/ws"),
            tool: ToolFacts {
                name: name.to_owned(),
                layer: Layer::Project,
                read_only: false,
                destructive: false,
                idempotent: false,
                requires_approval: None,
                parameters,
                sandbox: Some(crate::model::SandboxConfig::default()),
                builtin_effects: None,
                cwd: PathBuf::from("/ws"),
            },
            ctx: Context::default(),
            protected: vec![PathBuf::from("/ws/policies"), PathBuf::from("/ws/toolctl.yaml")],
            legacy: LegacyApproval::None,
            untrusted: false,
        }
    }

    /// A built-in tool as it is shipped.
    pub(super) fn builtin(name: &str) -> Self {
        let text = crate::manifest::builtin_source(name).unwrap();
        let manifest: Value = serde_json::from_str(text).unwrap();
        let mut lab = Self::new(name, json!({}));
        lab.tool.layer = Layer::Builtin;
        lab.tool.parameters = manifest["parameters"].clone();
        lab.tool.builtin_effects = crate::manifest::builtin_effects(name);
        lab.tool.read_only = manifest["readOnly"] == true;
        lab
    }

    fn with<R>(
        &self,
        set: &PolicySet,
        args: &Value,
        then: impl FnOnce(super::Classified<'_>, &PolicySet) -> R,
    ) -> R {
        self.with_facts(args, |facts| then(classify(facts, set, &self.ctx), set))
    }

    fn with_facts<R>(&self, args: &Value, then: impl FnOnce(super::Facts<'_>) -> R) -> R {
        let (schema, _) = Schema::compile_tool(&self.tool.parameters).unwrap();
        let env = CallEnv {
            world: &self.world,
            base: Path::new("/ws"),
            workspace: Path::new("/ws"),
            cwd_is_workspace: true,
        };
        let call = Call {
            tool_call_id: "c1".to_owned(),
            tool_name: self.tool.name.clone(),
            args: args.as_object().unwrap().clone(),
        };
        let call = validate(call, &schema, &env).unwrap();
        let env = FactEnv {
            world: &self.world,
            workspace: Path::new("/ws"),
            protected: &self.protected,
            legacy_approval: &self.legacy,
            project_untrusted: self.untrusted,
        };
        then(facts(call, Arc::new(self.tool.clone()), &env))
    }

    /// The decision, and that of plan mode.
    pub(super) fn plan(&self, set: &PolicySet, args: &Value) -> (Decision, Decision) {
        let (decided, plan) = self.with_facts(args, |facts| decide_for_plan(facts, set, &self.ctx));
        (decided.decision().clone(), plan)
    }

    pub(super) fn decided(&self, set: &PolicySet, args: &Value) -> Decided {
        self.with(set, args, |classified, set| decide(classified, set, &self.ctx))
    }

    pub(super) fn decide(&self, set: &PolicySet, args: &Value) -> Decision {
        let decision = self.decided(set, args).decision().clone();
        // `explain` may never tell another story than the decision.
        assert_eq!(self.explain(set, args).decision, decision);
        decision
    }

    pub(super) fn explain(&self, set: &PolicySet, args: &Value) -> Explanation {
        self.with(set, args, |classified, set| explain(&classified, set, &self.ctx))
    }

    /// Decides under one trusted project host with these rules.
    pub(super) fn under(&self, rules: &str, args: &Value) -> Decision {
        self.decide(&one(&host(rules)), args)
    }

    pub(super) fn check(&self, text: &str) -> Vec<Code> {
        check_for_tool(&one(text), &self.tool).into_iter().map(|fault| fault.code).collect()
    }
}

/// A set of one trusted project policy.
pub(super) fn one(text: &str) -> PolicySet {
    set(vec![source(text, Layer::Project, true)])
}

pub(super) fn set(sources: Vec<PolicySource>) -> PolicySet {
    let (set, faults) = PolicySet::new(sources);
    assert!(faults.is_empty(), "{faults:#?}");
    set
}

pub(super) fn effects(names: &[&str]) -> EffectSet {
    names.iter().map(|name| crate::model::Effect::parse(name).unwrap()).collect()
}

/// The action and the deciding rule.
pub(super) fn brief(decision: &Decision) -> (Action, &str) {
    (decision.action, &decision.rule.id)
}
