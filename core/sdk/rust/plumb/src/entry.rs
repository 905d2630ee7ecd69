//! The door of a plugin.

use crate::abi::{self, Answer, Error, Offer, Plugin, Status};
use crate::call::{guarded, read, write, Failure};

pub unsafe extern "C" fn runs_anywhere(_error: *mut Error) -> Status {
    abi::OK
}

/// Answers an offer: the newest version in both ranges, or INCOMPATIBLE with both ranges and the remedy.
///
/// # Safety
/// The pointers are null or what plumb/plugin.h says.
pub unsafe fn answer_offer(
    plugin: &'static Plugin, offer: *const Offer, answer: *mut Answer, error: *mut Error,
) -> Status {
    guarded(error, || {
        let offer = read(offer, "version_newest")?;
        let mut reply = read(answer, "plugin")?;
        reply.version_oldest = abi::OLDEST;
        reply.version_newest = abi::VERSION;
        let common = abi::VERSION.min(offer.version_newest);
        let meets = common >= abi::OLDEST && common >= offer.version_oldest;
        if meets {
            reply.version = common;
            reply.plugin = plugin;
        }
        write(answer, &reply, "plugin")?;
        if meets { Ok(()) } else { Err(refusal(&offer)) }
    })
}

fn refusal(offer: &Offer) -> Failure {
    let is_host_old = offer.version_newest < abi::OLDEST;
    let remedy = if is_host_old { "use a newer host" } else { "rebuild the plugin" };
    let message = format!(
        "plugin speaks ABI {} to {}, host {} to {}: {remedy}",
        abi::OLDEST, abi::VERSION, offer.version_oldest, offer.version_newest
    );
    Failure { status: abi::INCOMPATIBLE, message }
}

/// Defines the one exported symbol. Version, vendor (the author), license and description are those of the package's
/// Cargo.toml; the build may set PLUMB_PLUGIN_BUILD. `extension` is `fn(&[u8]) -> *const c_void`: a table, or null.
#[macro_export]
macro_rules! plugin {
    (id: $id:literal, rank: $rank:expr, extension: $extension:path) => {
        unsafe extern "C" fn plumb_rank() -> i32 {
            $rank
        }
        unsafe extern "C" fn plumb_extension(id: $crate::abi::Str) -> *const ::std::ffi::c_void {
            $crate::view(id, "id").map_or(::std::ptr::null(), $extension)
        }
        static PLUMB_PLUGIN: $crate::abi::Table<$crate::abi::Plugin> = $crate::abi::Table($crate::abi::Plugin {
            struct_bytes: size_of::<$crate::abi::Plugin>() as u32,
            reserved: 0,
            id: $crate::abi::Str::of($id),
            version: $crate::abi::Str::of(env!("CARGO_PKG_VERSION")),
            vendor: $crate::abi::Str::of(env!("CARGO_PKG_AUTHORS")),
            license: $crate::abi::Str::of(env!("CARGO_PKG_LICENSE")),
            description: $crate::abi::Str::of(env!("CARGO_PKG_DESCRIPTION")),
            build: $crate::abi::Str::of(match option_env!("PLUMB_PLUGIN_BUILD") {
                Some(build) => build,
                None => "cargo",
            }),
            probe: Some($crate::entry::runs_anywhere),
            rank: Some(plumb_rank),
            extension: Some(plumb_extension),
        });
        /// # Safety
        /// Called by a host as plumb/plugin.h says.
        #[no_mangle]
        pub unsafe extern "C" fn plumb_plugin_entry(
            offer: *const $crate::abi::Offer,
            answer: *mut $crate::abi::Answer,
            error: *mut $crate::abi::Error,
        ) -> $crate::abi::Status {
            $crate::entry::answer_offer(&PLUMB_PLUGIN.0, offer, answer, error)
        }
    };
}
