//! The author of a repository that somebody cloned.
