//! Plumbline's plugin interface for plugins in Rust: the structs of core/abi, the door of a plugin, and calls that
//! let no panic out. core/doc/abi.md tells the rules; what a struct means stands in the header that declares it.
//!
//! ```ignore
//! plumb::plugin! { id: "acme.lowest", rank: 0, extension: extension }
//! ```

pub mod abi;
mod call;
pub mod kernels;
pub mod sampler;
#[doc(hidden)]
pub mod entry;

pub use call::{fail, guarded, instance, read, text, view, write, Failure, Outcome};
