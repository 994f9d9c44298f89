//! Stand-in for `crate::schema` until it is merged; same shapes.
#![expect(missing_docs, reason = "replaced by crate::schema")]

use serde_json::Value;

#[derive(Debug)]
pub struct Schema(jsonschema::Validator);
#[derive(Debug)]
pub struct SchemaFault {
    pub pointer: String,
    pub message: String,
}
#[derive(Debug)]
pub struct SchemaWarning {
    pub pointer: String,
    pub message: String,
}
#[derive(Debug)]
pub struct Issue {
    pub path: String,
    pub message: String,
}

impl Schema {
    pub fn compile_tool(value: &Value) -> Result<(Self, Vec<SchemaWarning>), Vec<SchemaFault>> {
        Self::compile_any(value)
    }
    pub fn compile_any(value: &Value) -> Result<(Self, Vec<SchemaWarning>), Vec<SchemaFault>> {
        jsonschema::validator_for(value)
            .map(|v| (Self(v), Vec::new()))
            .map_err(|e| vec![SchemaFault { pointer: e.instance_path().to_string(), message: e.to_string() }])
    }
    pub fn check(&self, value: &Value) -> Vec<Issue> {
        self.0
            .iter_errors(value)
            .map(|e| Issue { path: e.instance_path().to_string(), message: e.to_string() })
            .collect()
    }
}
