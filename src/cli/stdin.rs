//! Standard input, read only where the caller wrote `-`.

use super::failure::{ArgumentFault, Failure};
use crate::call::CallError;
use std::io::Read as _;

/// Everything up to the end, at most one byte more than `max` so that the reader of the bytes sees that it is too much.
pub(crate) fn read_all(max: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(|error| {
        Failure::Arguments(ArgumentFault::Call(CallError::BadFlag {
            flag: "--args -".to_owned(),
            message: format!("stdin cannot be read: {error}"),
        }))
    })?;
    Ok(bytes)
}

/// Whether somebody redirected something into this program: a pipe or a file, not a terminal and not `/dev/null`.
pub(crate) fn is_offered() -> bool {
    use rustix::fs::FileType;
    rustix::fs::fstat(std::io::stdin()).is_ok_and(|stat| {
        matches!(FileType::from_raw_mode(stat.st_mode), FileType::Fifo | FileType::RegularFile)
    })
}
