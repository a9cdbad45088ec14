//! Reasons why a strategy cannot be written as settings of a client library.

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// No format of settings has the given name. The field `suggestion` is empty or begins with a space.
    #[error("unknown format of settings `{name}`{suggestion}")]
    UnknownFormat { name: String, suggestion: String },
    #[error("no settings format is known for `preset:{0}`")]
    NoFormatOfPreset(String),
    #[error("`{0}` does not begin with a preset, so the format of its settings is unknown")]
    NoPreset(String),
    #[error(
        "`{strategy}` has {layers} layers, and each needs the settings of a separate client; print the settings of one layer, or all layers with `--print-settings {whole}`"
    )]
    Layers {
        strategy: String,
        layers: usize,
        /// Name of the format that can express a strategy with several layers.
        whole: &'static str,
    },
    #[error(
        "{format} has no limiter like `{limiters}`; nearest: `loadgen strategies '{nearest}' --print-settings {format}`"
    )]
    NoLimiter { format: &'static str, limiters: String, nearest: String },
}
