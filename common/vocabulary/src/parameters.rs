//! Macro that defines a component's configuration: each parameter with its default, meaning and range in one place.

/// Returns the name of a field in kebab case.
pub const fn kebab<const N: usize>(field: &str) -> [u8; N] {
    let (mut name, mut at) = ([0; N], 0);
    while at < N {
        let byte = field.as_bytes()[at];
        name[at] = if byte == b'_' { b'-' } else { byte };
        at += 1;
    }
    name
}

/// Defines the config struct of a component, its defaults, and its [`Configurable`](crate::Configurable).
///
/// A parameter is `field: TYPE = DEFAULT, "meaning", RANGE;`. Its key is the field's name in kebab case, or the text in
/// `field("key")`. TYPE is `f64`, `u32`, `Duration`, `Rate`, `choice T` for a [`Choice`](crate::Choice), or `text T` for a
/// [`TextField`](crate::TextField). Durations without a range may be up to a day; choices and texts have no range. Without
/// attributes of its own, the struct derives `Clone` and `Debug`.
///
/// ```
/// vocabulary::parameters! {
///     struct Window = "window" {
///         low: u32 = 1, "lower bound", 1..=9;
///         most_at_once("most"): u32 = 5, "maximum number of requests at once", 1..=u32::MAX;
///     }
///     summary = "a window";
///     rule = "low <= requests <= most";
///     source = "none";
///
///     fn check(&self) -> Result<(), String> {
///         if self.low <= self.most_at_once { Ok(()) } else { Err("`low` is above `most`".to_owned()) }
///     }
/// }
/// ```
#[macro_export]
macro_rules! parameters {
    ($(#[doc = $doc:expr])* $visible:vis struct $($config:tt)*) => {
        $crate::parameters! { $(#[doc = $doc])* #[derive(Clone, Debug)] $visible struct $($config)* }
    };
    (
        $(#[$meta:meta])*
        $visible:vis struct $config:ident = $name:tt {
            $(
                $(#[$of_field:meta])*
                $field_visible:vis $field:ident $(($key:literal))? : $kind:ident $($type:ty)? = $default:expr, $about:expr $(, $range:expr)?;
            )*
        }
        summary = $summary:expr;
        rule = $rule:expr;
        source = $source:expr;
        $($more:tt)*
    ) => {
        $(#[$meta])*
        $visible struct $config {
            $($(#[$of_field])* $field_visible $field: $crate::parameters!(@type $kind $($type)?),)*
        }

        impl Default for $config {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $crate::Configurable for $config {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            const RULE: &'static str = $rule;
            const SOURCE: &'static str = $source;
            const PARAMETERS: &'static [$crate::Parameter<Self>] = &[$($crate::parameters!(
                @$kind $crate::parameters!(@key $field $($key)?), $about, |config| &mut config.$field $(, $range)?
            )),*];

            $($more)*
        }
    };
    (@type f64) => { f64 };
    (@type u32) => { u32 };
    (@type Duration) => { ::std::time::Duration };
    (@type Rate) => { $crate::Rate };
    (@type $kind:ident $type:ty) => { $type };
    (@key $field:ident $key:literal) => { $key };
    (@key $field:ident) => {{
        const FIELD: &str = stringify!($field);
        const KEY: [u8; FIELD.len()] = $crate::kebab(FIELD);
        match ::std::str::from_utf8(&KEY) {
            Ok(key) => key,
            Err(_) => FIELD,
        }
    }};
    (@f64 $key:expr, $about:expr, $at:expr, $range:expr) => { $crate::Parameter::number($key, $about, $range, $at) };
    (@u32 $key:expr, $about:expr, $at:expr, $range:expr) => { $crate::Parameter::count($key, $about, $range, $at) };
    (@Rate $key:expr, $about:expr, $at:expr, $range:expr) => { $crate::Parameter::rate($key, $about, $range, $at) };
    (@Duration $key:expr, $about:expr, $at:expr) => { $crate::Parameter::duration($key, $about, $at) };
    (@Duration $key:expr, $about:expr, $at:expr, $range:expr) => {
        $crate::Parameter::duration_in($key, $about, $range, $at)
    };
    (@choice $key:expr, $about:expr, $at:expr) => { $crate::Parameter::choice($key, $about, $at) };
    (@text $key:expr, $about:expr, $at:expr) => { $crate::Parameter::text($key, $about, $at) };
}
