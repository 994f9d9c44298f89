//! Sets of texts as automata, so that it can be found out whether a text is in some and not in others.
//!
//! Prefixes, globs, folders and lists of words are all regular, and the automata are small. A path is its absolute
//! text with a mark behind the workspace, whose place is unknown: what no text of that form satisfies, no path in any
//! workspace does.

use std::collections::{BTreeSet, HashSet, VecDeque};

/// Most sets of states that one search looks at. Beyond that there is no answer.
const MAX_STATES: usize = 3000;

/// What a move reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// This character.
    Char(char),
    /// Any character.
    Any,
    /// Any character but `/`.
    Name,
    /// The mark behind the workspace.
    Root,
}

/// What a text consists of: the characters that some automaton names, one that stands for all others, the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Symbol {
    Char(char),
    Other,
    Root,
}

#[derive(Debug, Clone, Default)]
struct State {
    moves: Vec<(Sign, usize)>,
    /// Moves that read nothing.
    jumps: Vec<usize>,
    accepts: bool,
}

/// A set of texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Language {
    states: Vec<State>,
    starts: Vec<usize>,
    /// Compared in lower case.
    fold: bool,
}

/// The states that an automaton may be in, sorted.
type Places = Vec<usize>;

impl Language {
    pub(super) fn new(fold: bool) -> Self {
        Self { fold, ..Self::default() }
    }

    fn state(&mut self) -> usize {
        self.states.push(State::default());
        self.states.len() - 1
    }

    fn link(&mut self, from: usize, sign: Sign, to: usize) {
        if let Some(state) = self.states.get_mut(from) {
            state.moves.push((sign, to));
        }
    }

    fn jump(&mut self, from: usize, to: usize) {
        if let Some(state) = self.states.get_mut(from) {
            state.jumps.push(to);
        }
    }

    fn accept(&mut self, at: usize) {
        if let Some(state) = self.states.get_mut(at) {
            state.accepts = true;
        }
    }

    fn start(&mut self) -> usize {
        let start = self.state();
        self.starts.push(start);
        start
    }

    /// Reads a literal from a state on.
    fn text(&mut self, mut at: usize, text: &str) -> usize {
        let folded = if self.fold { text.to_lowercase() } else { text.to_owned() };
        for c in folded.chars() {
            let next = self.state();
            self.link(at, Sign::Char(c), next);
            at = next;
        }
        at
    }

    /// Adds one text.
    pub(super) fn add_text(&mut self, text: &str) {
        let start = self.start();
        let end = self.text(start, text);
        self.accept(end);
    }

    /// Adds the texts that hold one at the start, at the end or anywhere.
    pub(super) fn add_part(&mut self, text: &str, before: bool, behind: bool) {
        let start = self.start();
        if before {
            self.link(start, Sign::Any, start);
        }
        let end = self.text(start, text);
        if behind {
            self.link(end, Sign::Any, end);
        }
        self.accept(end);
    }

    /// Adds the texts that a glob matches; `false` if it is of a form that is not known here, and nothing was added.
    pub(super) fn add_glob(&mut self, pattern: &str) -> bool {
        if !is_known(pattern) {
            return false;
        }
        let start = self.start();
        self.glob(start, pattern);
        true
    }

    fn glob(&mut self, start: usize, pattern: &str) {
        let segments: Vec<&str> = pattern.split('/').collect();
        let mut at = start;
        for (index, segment) in segments.iter().enumerate() {
            let last = index + 1 == segments.len();
            if *segment == "**" {
                if last {
                    let rest = self.state();
                    self.jump(at, rest);
                    self.link(rest, Sign::Any, rest);
                    self.accept(rest);
                } else {
                    // Any number of whole names, none included.
                    let (name, next) = (self.state(), self.state());
                    self.jump(at, next);
                    self.jump(at, name);
                    self.link(name, Sign::Name, name);
                    self.link(name, Sign::Char('/'), next);
                    self.jump(next, name);
                    at = next;
                }
                continue;
            }
            for c in segment.chars() {
                let next = self.state();
                match c {
                    '*' => {
                        self.jump(at, next);
                        self.link(next, Sign::Name, next);
                    }
                    '?' => self.link(at, Sign::Name, next),
                    c => self.link(at, Sign::Char(c), next),
                }
                at = next;
            }
            if last {
                self.accept(at);
            } else {
                let next = self.state();
                self.link(at, Sign::Char('/'), next);
                at = next;
            }
        }
    }

    /// A start behind the mark: what follows speaks of paths below the workspace.
    fn below_workspace(&mut self) -> usize {
        let before = self.start();
        self.link(before, Sign::Any, before);
        let root = self.state();
        self.link(before, Sign::Root, root);
        root
    }

    /// Adds the paths that a glob matches; `itself`: a relative one matches the workspace too.
    pub(super) fn add_path_glob(&mut self, pattern: &str, absolute: bool, itself: bool) -> bool {
        if !is_known(pattern) {
            return false;
        }
        if absolute {
            let first = self.states.len();
            let start = self.start();
            self.glob(start, pattern);
            self.pass_marks(first);
        } else {
            let root = self.below_workspace();
            if itself {
                self.accept(root);
            }
            let start = self.state();
            self.link(root, Sign::Char('/'), start);
            self.glob(start, pattern);
        }
        true
    }

    /// Absolute patterns do not see the mark.
    fn pass_marks(&mut self, first: usize) {
        for at in first..self.states.len() {
            self.link(at, Sign::Root, at);
        }
    }

    /// Adds a folder and all below it.
    pub(super) fn add_folder(&mut self, folder: &str, absolute: bool) {
        let first = self.states.len();
        let mut at = if absolute { self.start() } else { self.below_workspace() };
        match (absolute, folder) {
            (true, "/") | (false, ".") => {}
            (true, folder) => at = self.text(at, folder),
            (false, folder) => {
                let slash = self.state();
                self.link(at, Sign::Char('/'), slash);
                at = self.text(slash, folder);
            }
        }
        self.accept(at);
        let rest = self.state();
        self.link(rest, Sign::Any, rest);
        self.accept(rest);
        self.link(at, Sign::Char('/'), rest);
        if absolute {
            self.pass_marks(first);
        }
    }

    /// Adds the paths whose last name has an extension.
    pub(super) fn add_extension(&mut self, extension: &str) {
        let first = self.states.len();
        let start = self.start();
        self.link(start, Sign::Any, start);
        let (slash, stem) = (self.state(), self.state());
        self.link(start, Sign::Char('/'), slash);
        self.link(slash, Sign::Name, stem);
        self.link(stem, Sign::Name, stem);
        let dot = self.state();
        self.link(stem, Sign::Char('.'), dot);
        let end = self.text(dot, extension);
        self.accept(end);
        self.pass_marks(first);
    }

    /// Every text.
    pub(super) fn all() -> Self {
        let mut all = Self::new(false);
        let start = all.start();
        all.link(start, Sign::Any, start);
        all.accept(start);
        all
    }

    /// Every canonical path, absolute, with the mark behind the workspace if it lies in that.
    pub(super) fn paths() -> Self {
        let mut paths = Self::new(false);
        let start = paths.start();
        let root = paths.state();
        paths.link(start, Sign::Char('/'), root);
        paths.accept(root);
        let outside = paths.names(root);
        let mark = paths.state();
        paths.link(outside, Sign::Root, mark);
        paths.accept(mark);
        let slash = paths.state();
        paths.link(mark, Sign::Char('/'), slash);
        paths.names(slash);
        paths
    }

    /// Names with slashes between them, from behind a slash on; gives the state after a name.
    fn names(&mut self, behind_slash: usize) -> usize {
        let (name, slash) = (self.state(), self.state());
        self.link(behind_slash, Sign::Name, name);
        self.link(name, Sign::Name, name);
        self.link(name, Sign::Char('/'), slash);
        self.link(slash, Sign::Name, name);
        self.accept(name);
        name
    }

    fn close(&self, places: &mut Places) {
        let mut at = 0;
        while let Some(place) = places.get(at).copied() {
            at += 1;
            for next in self.states.get(place).into_iter().flat_map(|state| &state.jumps) {
                if !places.contains(next) {
                    places.push(*next);
                }
            }
        }
        places.sort_unstable();
    }

    fn begin(&self) -> Places {
        let mut places = self.starts.clone();
        self.close(&mut places);
        places
    }

    fn step(&self, places: &Places, symbol: Symbol) -> Places {
        let symbol = match symbol {
            Symbol::Char(c) if self.fold => Symbol::Char(lower(c)),
            other => other,
        };
        let reads = |sign: Sign| match (sign, symbol) {
            (Sign::Root, symbol) => symbol == Symbol::Root,
            (_, Symbol::Root) => false,
            (Sign::Any, _) => true,
            (Sign::Name, symbol) => symbol != Symbol::Char('/'),
            (Sign::Char(wanted), symbol) => symbol == Symbol::Char(wanted),
        };
        let mut next = Places::new();
        for (sign, to) in places.iter().filter_map(|at| self.states.get(*at)).flat_map(|state| &state.moves) {
            if reads(*sign) && !next.contains(to) {
                next.push(*to);
            }
        }
        self.close(&mut next);
        next
    }

    fn accepts(&self, places: &Places) -> bool {
        places.iter().any(|at| self.states.get(*at).is_some_and(|state| state.accepts))
    }

    fn characters(&self) -> impl Iterator<Item = char> {
        self.states.iter().flat_map(|state| &state.moves).filter_map(|(sign, _)| match sign {
            Sign::Char(c) => Some(*c),
            Sign::Any | Sign::Name | Sign::Root => None,
        })
    }
}

/// Whether a glob is made of characters, `?`, `*` and whole names `**`.
fn is_known(pattern: &str) -> bool {
    !pattern.contains(['[', ']', '{', '}', '\\'])
        && pattern.split('/').all(|segment| segment == "**" || !segment.contains("**"))
}

fn lower(c: char) -> char {
    let mut all = c.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Whether a text of `values` is in all of `inside` and in none of `outside`; `None` if that would take too long.
pub(super) fn exists(values: &Language, inside: &[Language], outside: &[Language]) -> Option<bool> {
    let all: Vec<&Language> = std::iter::once(values).chain(inside).chain(outside).collect();
    let wanted = 1 + inside.len();
    let symbols = symbols(&all);
    let first: Vec<Places> = all.iter().map(|language| language.begin()).collect();
    let mut seen = HashSet::from([first.clone()]);
    let mut todo = VecDeque::from([first]);
    while let Some(places) = todo.pop_front() {
        let good = all.iter().zip(&places).enumerate();
        if good.clone().all(|(at, (language, places))| language.accepts(places) == (at < wanted)) {
            return Some(true);
        }
        for symbol in &symbols {
            let next: Vec<Places> =
                all.iter().zip(&places).map(|(language, places)| language.step(places, *symbol)).collect();
            let dead = next.iter().take(wanted).any(Vec::is_empty);
            if !dead && seen.insert(next.clone()) {
                if seen.len() > MAX_STATES {
                    return None;
                }
                todo.push_back(next);
            }
        }
    }
    Some(false)
}

fn symbols(all: &[&Language]) -> Vec<Symbol> {
    let fold = all.iter().any(|language| language.fold);
    let mut characters: BTreeSet<char> = all.iter().flat_map(|language| language.characters()).collect();
    // A name is told from other texts by it, even where no pattern has one.
    characters.insert('/');
    if fold {
        // The Kelvin sign is the one character outside ASCII that becomes one of ASCII.
        let cases = characters.iter().flat_map(|c| c.to_uppercase().chain(c.to_lowercase()));
        let mut more: Vec<char> = cases.collect();
        if characters.contains(&'k') {
            more.push('\u{212a}');
        }
        characters.extend(more);
    }
    characters.into_iter().map(Symbol::Char).chain([Symbol::Other, Symbol::Root]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Language, exists};

    fn glob(pattern: &str, absolute: bool) -> Language {
        let mut language = Language::new(false);
        assert!(language.add_path_glob(pattern, absolute, false), "{pattern}");
        language
    }

    fn under(folder: &str, absolute: bool) -> Language {
        let mut language = Language::new(false);
        language.add_folder(folder, absolute);
        language
    }

    #[test]
    fn knows_which_paths_two_patterns_share() {
        let table = [
            (glob("src/**", false), under("src", false), true),
            (glob("docs/*.md", false), under("src", false), false),
            (glob("/**/.env", true), under(".", false), true),
            (glob("/**/.env", true), under("src", false), true),
            (glob("/etc/*", true), under("/usr", true), false),
            // The workspace may be anywhere.
            (glob("/etc/**", true), under("src", false), true),
            (under("/a", true), under("/a/b", true), true),
            (under("/a", true), under("/ab", true), false),
        ];
        for (at, (a, b, expected)) in table.into_iter().enumerate() {
            assert_eq!(exists(&Language::paths(), &[a, b], &[]), Some(expected), "row {at}");
        }
    }

    #[test]
    fn knows_what_one_pattern_adds_to_another() {
        let table = [
            (under("src/a", false), under("src", false), false),
            (under("src", false), under("src/a", false), true),
            (glob("**/.env", false), glob("/**/.env", true), false),
            (glob("/**/.env", true), glob("**/.env", false), true),
            (glob("src/*", false), glob("src/**", false), false),
            (glob("src/**", false), glob("src/*", false), true),
            (under("src", false), under(".", false), false),
        ];
        for (at, (a, b, expected)) in table.into_iter().enumerate() {
            assert_eq!(exists(&Language::paths(), &[a], &[b]), Some(expected), "row {at}");
        }
    }

    #[test]
    fn compares_without_case_where_told() {
        let word = |text: &str, fold: bool| {
            let mut language = Language::new(fold);
            language.add_text(text);
            language
        };
        let all = Language::all();
        assert_eq!(exists(&all, &[word("GET", true), word("get", false)], &[]), Some(true));
        assert_eq!(exists(&all, &[word("GET", false), word("get", false)], &[]), Some(false));
        assert_eq!(exists(&all, &[word("get", false)], &[word("GET", true)]), Some(false));
        assert_eq!(exists(&all, &[word("get", true)], &[word("get", false)]), Some(true));
    }

    #[test]
    fn gives_up_rather_than_run_for_long() {
        let many: Vec<Language> =
            (0..14).map(|at| glob(&format!("**/{}/**", "x".repeat(at + 1)), false)).collect();
        assert_eq!(exists(&Language::paths(), &many[..1], &many[1..]), Some(true));
        assert_eq!(exists(&Language::paths(), &many, &[]), None);
    }
}
