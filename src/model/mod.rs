//! Values that several stages share: effects, the run's context, sandbox configurations.

mod context;
mod effect;
mod layer;
mod sandbox;

pub use context::{Context, RunMode};
pub use effect::{Effect, EffectSet};
pub use layer::Layer;
pub use sandbox::{
    AllowFs, AllowNetwork, EnvRequest, HostPort, RequiredLayer, RunAs, SandboxConfig, SandboxSetting,
};
