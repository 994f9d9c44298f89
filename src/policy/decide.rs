//! The third arrow. Everything that has something to say votes, and the most restrictive vote holds; so the order of
//! rules and files has no meaning, and nothing that only tightens can loosen.

use super::action::{Action, Remember, Strength};
use super::classify::{Classified, classify};
use super::condition::{AtomTrace, Condition, Flip, Flips, Trace};
use super::decision::{Decided, Decision, Floor, Matched, RuleRef};
use super::engine;
use super::environ::Env;
use super::facts::Facts;
use super::model::{Mask, Rule, RuleKind};
use super::set::{PolicySet, PolicySource, Unit, UnitKind, default_of};
use super::truth::Truth;
use crate::diag::Code;
use crate::model::{Context, EffectSet, RunMode, SandboxConfig};
use crate::text::{Span, escape};

/// One rule as it was weighed; what `explain` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTrace {
    /// The rule's id.
    pub rule: String,
    /// Where it stands.
    pub span: Option<Span>,
    /// What it says.
    pub action: Action,
    /// `allow` or `ask`, rather than a guard.
    pub grant: bool,
    /// What its condition says of the call.
    pub truth: Truth,
    /// Whether it matched: a guard matches in doubt, a grant does not.
    pub matched: bool,
    /// Why it does not count, if it does not: evaluated only, ignored, of another layer.
    pub set_aside: Option<&'static str>,
    /// Its atoms, in the order of the file.
    pub atoms: Vec<AtomTrace>,
    /// The fewest atoms that would have to be otherwise for the rule's condition to hold; `None`: no change does it.
    pub(super) to_hold: Option<Vec<Flip>>,
    /// The same for it to be false.
    pub(super) to_fail: Option<Vec<Flip>>,
}

impl RuleTrace {
    /// The atoms that would have to be otherwise, as they would have to be, escaped; with each as it is.
    pub(super) fn wanted(&self, flips: &[Flip]) -> Vec<(String, &AtomTrace)> {
        let atoms = flips.iter().filter_map(|(at, value)| Some((self.atoms.get(*at)?, *value)));
        atoms.map(|(atom, value)| (atom.wanted(value), atom)).collect()
    }
}

/// Files that were weighed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTrace {
    /// The names of the policies.
    pub policies: Vec<String>,
    /// `host`, `delegate` or `guard`.
    pub role: &'static str,
    /// The layer.
    pub layer: crate::model::Layer,
    /// Whether it speaks of this call at all; a `for` that names other agents makes it silent.
    pub active: bool,
    /// What it says where no grant matches; `None` for `inherit`.
    pub default: Option<Action>,
    /// Its rules that can select the tool.
    pub rules: Vec<RuleTrace>,
}

/// Collects units while a call is judged.
pub(super) type Watch<'w> = Option<&'w mut Vec<UnitTrace>>;

/// Decides a call. A fault of any kind is a denial.
pub fn decide(classified: Classified<'_>, set: &PolicySet, ctx: &Context) -> Decided {
    let decision = judge(&classified, set, ctx, None);
    let Classified { facts, origins, .. } = classified;
    Decided { call: facts.call, tool: facts.tool, origins, decision }
}

/// Decides a call, and says what would be decided of it in plan mode. That is shown and never acted on.
pub fn decide_for_plan(facts: Facts<'_>, set: &PolicySet, ctx: &Context) -> (Decided, Decision) {
    let plan = Context { mode: RunMode::Plan, ..ctx.clone() };
    let classified = classify(facts, set, &plan);
    let in_plan_mode = judge(&classified, set, &plan, None);
    (decide(classify(classified.facts, set, ctx), set, ctx), in_plan_mode)
}

/// One vote. The lowest rank is reported among votes of one action: 0 faults, 1 trust, 2 control files, 3 rules,
/// 4 defaults, 5 plan mode, 6 the manifest's floor, 7 the legacy list.
struct Vote {
    action: Action,
    rank: u8,
    rule: RuleRef,
    reason: Option<String>,
    code: Option<Code>,
}

/// The answer of one rule that asks, to the questions of the approval stage.
struct Asks {
    strength: Option<Strength>,
    remember: Option<Remember>,
}

/// What has been said so far.
struct Bench<'s> {
    call: &'s Classified<'s>,
    env: Env<'s>,
    votes: Vec<Vote>,
    matched: Vec<Matched>,
    limits: Vec<SandboxConfig>,
    asks: Vec<Asks>,
    masks: Vec<Mask>,
    host_grants: Vec<&'s Rule>,
}

/// The one evaluator: `decide` and `explain` both call it.
pub(super) fn judge<'s>(
    call: &'s Classified<'s>,
    set: &'s PolicySet,
    ctx: &'s Context,
    mut watch: Watch<'_>,
) -> Decision {
    let mut bench = Bench {
        call,
        env: call.facts.see(ctx, Some(call.effects)),
        votes: Vec::new(),
        matched: Vec::new(),
        limits: Vec::new(),
        asks: Vec::new(),
        masks: Vec::new(),
        host_grants: Vec::new(),
    };
    let candidates = set.candidates(&call.facts.tool.name);
    for (at, unit) in set.units.iter().enumerate() {
        let rules: Vec<(&PolicySource, &Rule)> =
            candidates.iter().filter(|rule| rule.unit == at).filter_map(|rule| set.rule(*rule)).collect();
        bench.hear(unit, &rules, set, ctx, watch.as_deref_mut());
    }
    if let Some((rule, why)) = &call.fault {
        let reason = format!("the effect cannot be evaluated: {}", escape(why));
        bench.vote(Action::Deny, 0, rule.clone(), Some(reason), Some(Code::PolicyError));
    }
    if !set.units.iter().any(|unit| unit.kind == UnitKind::Host) {
        let rule = RuleRef { id: "default".to_owned(), span: None, layer: None };
        bench.vote(
            Action::Deny,
            0,
            rule,
            Some("there is no host policy".to_owned()),
            Some(Code::PolicyError),
        );
    }
    let mut floors = Vec::new();
    for verdict in engine::verdicts(call, ctx, &bench.host_grants) {
        let Floor { rule, action, reason } = verdict.floor.clone();
        bench.vote(action, verdict.rank, rule, Some(reason), verdict.code);
        floors.push(verdict.floor);
    }
    bench.conclude(floors, call.effects)
}

impl<'s> Bench<'s> {
    fn vote(&mut self, action: Action, rank: u8, rule: RuleRef, reason: Option<String>, code: Option<Code>) {
        self.votes.push(Vote { action, rank, rule, reason, code });
    }

    /// Weighs the rules of one unit.
    fn hear(
        &mut self,
        unit: &Unit,
        rules: &[(&'s PolicySource, &'s Rule)],
        set: &'s PolicySet,
        ctx: &Context,
        watch: Watch<'_>,
    ) {
        let sources: Vec<&PolicySource> = unit.sources.iter().filter_map(|at| set.sources.get(*at)).collect();
        let active = sources.iter().any(|source| self.applies(source, ctx));
        let default = default_of(&set.sources, unit).filter(|_| unit.kind != UnitKind::Guards);
        let mut traces = Vec::new();
        let watching = watch.is_some();
        let mut granted = false;
        if active {
            for source in &sources {
                let masks = source.file.rules.iter().filter(|rule| !rule.evaluate);
                self.masks.extend(masks.filter_map(|rule| rule.mask.clone()));
            }
        }
        for (source, rule) in rules {
            if !active && !watching {
                break;
            }
            let aside = if active { self.set_aside(unit, source, rule) } else { Some("is for other agents") };
            let (trace, grants) = self.weigh(unit, source, rule, aside, watching);
            granted |= grants;
            traces.extend(trace);
        }
        if let Some((action, source)) = default.filter(|_| active && !granted) {
            self.vote_default(unit, action, source);
        }
        if let Some(watch) = watch {
            watch.push(UnitTrace {
                policies: sources.iter().map(|source| source.file.name.clone()).collect(),
                role: match unit.kind {
                    UnitKind::Host => "host",
                    UnitKind::Delegate => "delegate",
                    UnitKind::Guards => "guard",
                },
                layer: unit.layer,
                active,
                default: default.map(|(action, _)| action),
                rules: traces,
            });
        }
    }

    /// Whether a file speaks of this call: `for` is asked about every agent of the chain. Doubt is a yes, since such
    /// a file can only tighten; but where there is no agent, none has the name that is looked for.
    fn applies(&self, source: &PolicySource, ctx: &Context) -> bool {
        let Some(condition) = &source.file.applies_for else { return true };
        let ask = |ctx: &Context| {
            let env = Env { ctx: Some(ctx), per_agent: true, ..self.env };
            condition.eval(&env, None, false) != Truth::False
        };
        if ctx.agents.is_empty() {
            return ask(ctx);
        }
        ctx.agents.iter().any(|agent| ask(&Context { agents: vec![agent.clone()], ..ctx.clone() }))
    }

    /// Why a rule does not count, if it does not.
    fn set_aside(&self, unit: &Unit, source: &PolicySource, rule: &Rule) -> Option<&'static str> {
        if rule.evaluate {
            return Some("is only evaluated");
        }
        if !rule.kind.is_grant() {
            return None;
        }
        if unit.kind == UnitKind::Guards {
            return Some("is ignored: needs trust");
        }
        (self.call.facts.tool.layer > source.layer && !rule.from_project)
            .then_some("speaks of tools of its own layer; `from: project` would include inner ones")
    }

    /// Weighs one rule. Returns its trace if somebody watches, and whether it is a grant that counts.
    fn weigh(
        &mut self,
        unit: &Unit,
        source: &'s PolicySource,
        rule: &'s Rule,
        aside: Option<&'static str>,
        watching: bool,
    ) -> (Option<RuleTrace>, bool) {
        let mut atoms = Vec::new();
        let truth = evaluate(rule, &self.env, if watching { Some(&mut atoms) } else { None });
        let matched = matches(rule.kind, &truth);
        let span = source.place(rule.span);
        if aside.is_none() {
            self.count(unit, source, rule, &truth, matched);
        } else if matched && rule.evaluate {
            let action = rule.kind.action();
            let id = rule.id.clone();
            self.matched.push(Matched { rule: id, action, span, decisive: false, evaluate: true });
        }
        if source.place(rule.span).is_none() {
            for atom in &mut atoms {
                atom.span = None;
            }
        }
        let flips = if watching { flips(rule, &atoms) } else { Flips { hold: None, fail: None } };
        let trace = watching.then(|| RuleTrace {
            rule: rule.id.clone(),
            span,
            action: rule.kind.action(),
            grant: rule.kind.is_grant(),
            truth,
            matched,
            set_aside: aside,
            atoms,
            to_hold: flips.hold,
            to_fail: flips.fail,
        });
        (trace, aside.is_none() && matched && rule.kind.is_grant())
    }

    fn count(&mut self, unit: &Unit, source: &PolicySource, rule: &'s Rule, truth: &Truth, matched: bool) {
        let reference =
            RuleRef { id: rule.id.clone(), span: source.place(rule.span), layer: Some(source.layer) };
        if let Truth::Error(why) = truth {
            let reason = format!("the rule cannot be evaluated: {}", escape(why));
            self.vote(Action::Deny, 0, reference, Some(reason), Some(Code::PolicyError));
            return;
        }
        if !matched {
            return;
        }
        let action = rule.kind.action();
        let span = reference.span;
        self.matched.push(Matched { rule: rule.id.clone(), action, span, decisive: false, evaluate: false });
        if rule.kind.is_grant() {
            self.limits.extend(rule.limits.clone());
            if unit.kind == UnitKind::Host {
                self.host_grants.push(rule);
            }
        }
        if action == Action::Ask {
            self.asks.push(Asks { strength: rule.strength, remember: rule.remember });
        }
        let reason = rule.reason.as_ref().map(|reason| reason.render(&self.env, &self.call.facts.secrets));
        let code = (action == Action::Deny).then_some(Code::PolicyDenied);
        self.vote(action, 3, reference, reason, code);
    }

    fn vote_default(&mut self, unit: &Unit, action: Action, source: &PolicySource) {
        let name = &source.file.name;
        let id = if unit.kind == UnitKind::Host { "default".to_owned() } else { format!("{name}/default") };
        let span = source.file.default.span.and_then(|span| source.place(span));
        let rule = RuleRef { id, span, layer: Some(source.layer) };
        let reason = source.file.reason_default.as_ref().map_or_else(
            || {
                let tool = escape(&self.call.facts.tool.name);
                let then = match action {
                    Action::Deny => "",
                    Action::Ask => ", and its default is to ask",
                    Action::Allow => ", and its default is to allow",
                };
                format!("no rule of `{name}` grants this call of {tool}{then}")
            },
            |reason| reason.render(&self.env, &self.call.facts.secrets),
        );
        let code = (action == Action::Deny).then_some(Code::PolicyDenied);
        self.vote(action, 4, rule, Some(reason), code);
    }

    /// The most restrictive vote, and everything that goes with it.
    fn conclude(mut self, floors: Vec<Floor>, effects: EffectSet) -> Decision {
        let best =
            self.votes.iter().min_by(|a, b| (b.action, a.rank, &a.rule).cmp(&(a.action, b.rank, &b.rule)));
        let (action, rank, rule, reason, code) = match best {
            Some(vote) => (vote.action, vote.rank, vote.rule.clone(), vote.reason.clone(), vote.code),
            // Only if nothing had anything to say, which a host's default prevents.
            None => (Action::Deny, 0, RuleRef::engine("no-vote"), None, Some(Code::PolicyError)),
        };
        for matched in &mut self.matched {
            matched.decisive = !matched.evaluate && matched.rule == rule.id;
        }
        self.matched.sort_by(|a, b| (b.action, &a.rule).cmp(&(a.action, &b.rule)));
        self.masks.sort_by(|a, b| a.rule.cmp(&b.rule));
        let unanimous = !self.asks.is_empty() && self.asks.iter().all(|ask| ask.remember.is_some());
        let remember = self.asks.iter().filter_map(|ask| ask.remember).reduce(Remember::stricter);
        Decision {
            action,
            rule,
            reason,
            code,
            matched: self.matched,
            floors,
            limits: self.limits,
            from_approval_floor: action == Action::Ask && rank >= 6,
            strength: self.asks.iter().filter_map(|ask| ask.strength).max(),
            // A rule that says nothing leaves the question open; a `no` closes it all the same.
            remember: remember.filter(|remember| unanimous || *remember == Remember::No),
            masks: self.masks,
            effect: effects.worst(),
            effects,
        }
    }
}

/// What a rule says of a call: `effect`, `when` and not `unless`.
pub(super) fn evaluate(rule: &Rule, env: &Env<'_>, mut trace: Trace<'_>) -> Truth {
    let mut truth = Truth::True;
    for part in [&rule.effect, &rule.when].into_iter().flatten() {
        truth = truth.and(part.eval(env, trace.as_deref_mut(), false));
    }
    if truth == Truth::False && trace.is_none() {
        return truth;
    }
    let except = |except: &Condition| except.eval(env, trace, true).negate();
    match &rule.unless {
        Some(unless) => truth.and(except(unless)),
        None => truth,
    }
}

/// What would have to be otherwise for a rule to hold, or not to. The parts are read in the order of [`evaluate`].
fn flips(rule: &Rule, atoms: &[AtomTrace]) -> Flips {
    let mut at = 0;
    let mut parts: Vec<Flips> =
        [&rule.effect, &rule.when].into_iter().flatten().map(|part| part.flips(atoms, &mut at)).collect();
    parts.extend(rule.unless.as_ref().map(|unless| unless.flips(atoms, &mut at).negate()));
    Flips::all(parts)
}

/// Whether a rule matches: in doubt a guard does and a grant does not.
pub(super) const fn matches(kind: RuleKind, truth: &Truth) -> bool {
    match truth {
        Truth::True => true,
        Truth::False | Truth::Error(_) => false,
        Truth::Unknown(_) => !kind.is_grant(),
    }
}
