//! One file a command: the arguments in, the exit code out.

pub mod check;
pub mod doctor;
pub mod explain;
pub mod plan;
pub mod policy;
pub mod run;
pub mod tools;
pub mod trust;
pub mod validate;
