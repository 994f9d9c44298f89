//! One binary for all integration tests: one module a feature.

mod sandbox;
