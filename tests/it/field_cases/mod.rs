//! Field cases: faults that people met with other runners of tools, each as a test of ours, named by its id.

mod approval;
mod exec;
pub(crate) mod kit;
mod output;
mod policy;
mod validation;
