//! Values that several stages share: effects, the run's context, sandbox configurations.

mod context;
mod effect;
mod executed;
mod layer;
mod sandbox;

pub use context::{Context, RunMode};
pub use effect::{Effect, EffectSet};
pub use executed::{EXECUTED_LATER, GIT_EXECUTED_LATER, executed_later};
pub use layer::Layer;
pub use sandbox::{
    AllowFs, AllowNetwork, EnvRequest, HostPort, RequiredLayer, RunAs, SandboxConfig, SandboxSetting,
};
