//! Field cases: faults that people met with other runners of tools, each as a test of ours, named by its id.
//!
//! | case | test |
//! | --- | --- |
//! | F003 a timeout leaves descendants | `exec::f003_timeout_kills_descendants` |
//! | F005 waits for an answer nobody can give | `approval::f005_nobody_to_ask_ends_at_once`; parking waits for the queue |
//! | F007 a broken rule drops the policy | `policy::f007_a_broken_policy_stops_everything`; long sessions and saved rules wait for the queue |
//! | F009 a failing check is permission | `texts::f009_a_check_that_is_not_carried_out_is_no_permission`; carrying it out waits for external checks |
//! | F011 a broad allow beats an ask | `policy::f011_a_broad_allow_does_not_beat_an_ask` |
//! | F013 a timeout counts as yes | `approval::f013_no_answer_is_no_unless_said_otherwise`; the record waits for the store |
//! | F015 no expiry | `approval::f015_every_question_has_an_end`; slots of batches and lists wait for the queue |
//! | F021 what was approved is swapped | `approval::f021_a_script_that_changes_while_asking_does_not_run`; resuming waits for the queue |
//! | F023 a rejected call runs | `approval::f023_a_no_runs_nothing` |
//! | F027 asked about an invalid call | `approval::f027_nobody_is_asked_about_an_invalid_call`; the second part waits for the queue |
//! | F029 a tool vouches for itself | `policy::f029_a_tool_does_not_vouch_for_itself` |
//! | F031 hidden characters in the prompt | `approval::f031_hidden_characters_are_shown`, `approval::f031_letters_that_look_alike_are_spelt_out`; listing waits for the queue |
//! | F033 always means too much | `approval::f033_there_is_no_always`; saved rules wait for the store |
//! | F035 links lead out | `policy::f035_links_and_dots_do_not_lead_out` |
//! | F037 prefix taken for containment | `policy::f037_a_longer_name_is_not_inside` |
//! | F041 flags spelt otherwise | `texts::f041_flags_in_a_text_are_warned_of`; flags as flags wait for the argv matcher |
//! | F043 lines and comments | `texts::f043_a_second_line_is_seen`; heredocs and continued lines wait for the shell matcher |
//! | F045 a star stops at a slash | `texts::f045_a_star_that_stops_at_a_slash_is_warned_of` |
//! | F047 patterns without a base | `policy::f047_patterns_have_one_base` |
//! | F049 secrets are shown | `approval::f049_secrets_are_not_shown`; audit, queue, cache wait for the store |
//! | F051 no sandbox, and it runs | `output::f051_no_sandbox_no_run` |
//! | F053 a charge is repeated | `exec::f053_a_call_with_effects_is_not_repeated`; retries wait for the executor |
//! | F055 the tool reads the caller's stdin | `exec::f055_the_callers_stdin_and_terminal_are_not_the_tools`; batches wait for the executor |
//! | F057 a signal counts as success | `exec::f057_a_signal_is_no_success` |
//! | F059 output lost at a timeout | `exec::f059_output_before_the_end_is_kept` |
//! | F061 bytes that are no text | `exec::f061_bytes_that_are_no_text`; artifacts wait for the executor |
//! | F063 cut JSON is fed on | `output::f063_cut_json_is_not_json`; artifacts wait for the executor |
//! | F065 rounded integers | `validation::f065_numbers_are_not_rounded` |
//! | F067 strings taken for numbers | `validation::f067_strings_are_not_taken_for_numbers`; there is no coercion to switch on |
//! | F071 refusals without a meaning | `policy::f071_a_refusal_says_what_it_is`, `approval::f071_six_refusals_have_six_codes`; counting repeats waits for loop detection |
//! | F073 the agent edits its policy | `policy::f073_the_policy_is_out_of_reach` |
//! | F075 a repository outranks its user | `policy::f075_a_repository_does_not_outrank_its_user`, `policy::f075_trust_is_of_a_place_and_its_content` |
//! | F077 rules do not see arguments | `policy::f077_rules_see_arguments` |
//! | F079 unanchored expressions | `policy::f079_expressions_match_the_whole_value` |
//! | F083 cached by default | `exec::f083_nothing_is_answered_from_before`; cache keys wait for the executor |
//! | F087 the environment of tools | `exec::f087_the_environment_is_a_list` |
//! | F089 half a sandbox | `output::f089_each_layer_is_reported`, `sandbox::closed`; a kernel of another age is not here to try |
//! | F091 a grant for a missing folder | `exec::f091_a_missing_folder_is_said_before_the_start` |
//! | F093 listed hosts not held | `exec::f093_listed_hosts_are_not_pretended`; a list waits for the network layer |
//! | F095 addresses in disguise | `texts::f095_addresses_in_disguise`, `tools::network`; a rule on parts waits for the URL matcher |
//! | F097 memory by address space | `exec::f097_memory_is_what_is_used_by_the_whole_tree` |
//! | F099 state is damaged | `output::f099_many_at_once_lose_nothing`; the queue and artifacts wait for the store |
//! | F105 zombies | `exec::f105_orphans_are_reaped_and_codes_are_right` |
//! | F109 defaults | `validation::f109_defaults_are_filled_in` |
//! | F111 patterns | `validation::f111_patterns_are_bounded_and_honest` |
//! | F113 depth | `validation::f113_depth_is_bounded`; converting waits for interop |
//! | F115 duplicate keys | `validation::f115_nothing_stands_twice` |
//! | F117 a plan has effects | `policy::f117_a_plan_changes_nothing`, `plan_is_run::a_plan_starts_and_writes_nothing` |
//! | F119 stray keys approve | `approval::f119_only_the_word_on_the_terminal_approves` |
//! | F121 stdout is not JSON | `output::f121_stdout_is_one_json_value`, `errors` |
//! | F123 the terminal is left broken | `approval::f123_the_terminal_is_left_as_it_was`, `approval::f123_a_suspended_prompt_comes_back` |
//! | F125 no trace of a decision | `policy::f125_the_result_says_who_decided`; the record waits for the audit log |
//! | F127 times without a unit | `validation::f127_times_have_units` |
//! | F131 a value becomes an option | `exec::f131_a_leading_dash_is_no_option` |
//! | F133 a program from the working folder | `exec::f133_the_path_of_the_caller_finds_nothing` |
//! | F137 a test of nothing is green | `texts::f137_a_check_of_nothing_is_not_green`; suites wait for the policy tester |
//! | F139 names decide | `policy::f139_names_decide_nothing` |
//!
//! | waits for | cases |
//! | --- | --- |
//! | the shell and argv matchers | F001 F039 |
//! | the store and the approval queue | F017 F019 F025 |
//! | the executor: batch, cache, retries, jobs, artifacts, loop detection | F081 F085 F101 F103 F129 |
//! | interop and routing | F069 F135 |
//! | another operating system | F107 |

mod approval;
mod exec;
pub(crate) mod kit;
mod output;
mod policy;
mod texts;
mod validation;

/// The table above names every case once, and every test that it names is there.
#[test]
fn the_table_is_complete() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    let table: Vec<String> = read("field_cases/mod.rs")
        .lines()
        .filter(|line| line.starts_with("//! |"))
        .map(str::to_owned)
        .collect();
    for number in (1..140).step_by(2) {
        let id = format!("F{number:03}");
        assert_eq!(table.iter().filter(|line| line.contains(&id)).count(), 1, "{id}");
    }
    let named = table.iter().flat_map(|line| line.split('`')).filter_map(|word| word.split_once("::f"));
    let mut count = 0;
    for (module, name) in named {
        assert!(
            read(&format!("field_cases/{module}.rs")).contains(&format!("fn f{name}()")),
            "{module}::f{name}"
        );
        count += 1;
    }
    assert!(count > 40, "the table was not read");
}
