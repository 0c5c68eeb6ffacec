//! The one-line setters every wire struct has.

/// Writes a chainable setter per optional field: `into` fields take anything
/// that converts, `plain` fields take the type itself, `real` fields take a
/// finite `f64`.
macro_rules! setters {
    ($type:ident {
        $(into { $($into:ident: $into_type:ty),* $(,)? })?
        $(plain { $($plain:ident: $plain_type:ty),* $(,)? })?
        $(real { $($real:ident),* $(,)? })?
    }) => {
        impl $type {
            $($(
                #[doc = concat!("Sets `", stringify!($into), "`.")]
                #[must_use]
                pub fn $into(mut self, $into: impl Into<$into_type>) -> Self {
                    self.$into = Some($into.into());
                    self
                }
            )*)?
            $($(
                #[doc = concat!("Sets `", stringify!($plain), "`.")]
                #[must_use]
                pub fn $plain(mut self, $plain: $plain_type) -> Self {
                    self.$plain = Some($plain);
                    self
                }
            )*)?
            $($(
                #[doc = concat!("Sets `", stringify!($real), "`; a value that is not finite clears it.")]
                #[must_use]
                pub fn $real(mut self, $real: f64) -> Self {
                    self.$real = serde_json::Number::from_f64($real);
                    self
                }
            )*)?
        }
    };
}
