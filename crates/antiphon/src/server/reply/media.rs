//! [`Image`] and [`Audio`]: bytes with a type.

use antiphon_types::ContentBlock;
use base64::{Engine, engine::general_purpose::STANDARD};

macro_rules! media {
    ($(#[$doc:meta])* $name:ident, $block:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name {
            base64: String,
            mime_type: String,
        }

        impl $name {
            /// From bytes of this MIME type.
            pub fn new(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
                Self::base64(STANDARD.encode(bytes), mime_type)
            }

            /// From what is Base64 already.
            pub fn base64(base64: impl Into<String>, mime_type: impl Into<String>) -> Self {
                Self {
                    base64: base64.into(),
                    mime_type: mime_type.into(),
                }
            }
        }

        impl From<$name> for ContentBlock {
            fn from(media: $name) -> Self {
                Self::$block(media.base64, media.mime_type)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("mime_type", &self.mime_type)
                    .field("base64_bytes", &self.base64.len())
                    .finish()
            }
        }
    };
}

media!(
    /// A picture in a reply.
    ///
    /// ```
    /// use antiphon::Image;
    ///
    /// async fn chart() -> Image {
    ///     Image::new(b"\x89PNG..", "image/png")
    /// }
    /// # let _ = antiphon::Server::<()>::new("charts", "1.0").tool("chart", chart);
    /// ```
    Image,
    image
);

media!(
    /// A sound in a reply.
    Audio,
    audio
);
