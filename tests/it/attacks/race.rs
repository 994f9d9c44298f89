//! Files that change between a decision and what comes of it.
