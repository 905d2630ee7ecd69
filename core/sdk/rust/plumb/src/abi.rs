//! The structs of core/abi/plumb that plugins in Rust use so far. A test compares them with golden/abi/layout.txt.
//! All zero bytes are a value of each.

use std::ffi::c_void;

pub type Status = i32;
pub const OK: Status = 0;
pub const INVALID_ARGUMENT: Status = 1;
pub const INVALID_CONFIG: Status = 2;
pub const NOT_FOUND: Status = 3;
pub const UNSUPPORTED: Status = 4;
pub const INCOMPATIBLE: Status = 5;
pub const CORRUPT: Status = 6;
pub const NUMERIC: Status = 7;
pub const MORE_SPACE: Status = 8;
pub const CANCELLED: Status = 9;
pub const INTERNAL: Status = 10;

pub const VERSION: u32 = 1;
pub const OLDEST: u32 = 1;

pub const VALUE_STR: u32 = 5;

pub const EXT_TOKENIZER: &str = "plumb.tokenizer/1";
pub const TOKEN_CONTROL: u32 = 1;
pub const TOKEN_BYTE: u32 = 2;
pub const TOKEN_UNKNOWN: u32 = 4;
pub const TOKEN_UNUSED: u32 = 8;
pub const TOKEN_USER_DEFINED: u32 = 16;
pub const TOKEN_END: u32 = 32;
pub const SPECIAL_OFF: u32 = 0;
pub const SPECIAL_PARSE: u32 = 1;
pub const ILL_FORMED_MAXIMAL_SUBPART: u32 = 0;
pub const ILL_FORMED_BYTE_RUN: u32 = 1;

pub const EXT_TEMPLATE: &str = "plumb.template/1";

/// One field, or the struct as a whole: name, offset, size.
pub type Place = (&'static str, usize, usize);

/// A struct of the interface. `#[repr(C)]`, and valid when all its bytes are zero.
///
/// # Safety
/// Only `structs!` below may implement it, which takes care of both.
pub unsafe trait Abi: Copy {
    /// The name in C.
    const NAME: &'static str;
    fn fields() -> &'static [Place];
    /// How many bytes a struct must have for this field to be in it.
    fn end_of(field: &str) -> usize {
        let place = Self::fields().iter().find(|place| place.0 == field);
        place.map_or(usize::MAX, |(_, offset, size)| offset + size)
    }
}

macro_rules! structs {
    ($($c_name:literal $name:ident { $($field:ident: $kind:ty,)* })*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name { $(pub $field: $kind,)* }
            unsafe impl Abi for $name {
                const NAME: &'static str = $c_name;
                fn fields() -> &'static [Place] {
                    &[$((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$kind>())),*]
                }
            }
            impl $name {
                /// All bytes zero, which for pointers and functions is null.
                pub const fn zeroed() -> Self {
                    // SAFETY: every field is an integer, a float, a raw pointer, an optional function or made of these.
                    unsafe { std::mem::zeroed() }
                }
            }
        )*
        /// Name, size and fields of every struct here.
        pub fn layouts() -> Vec<(&'static str, usize, &'static [Place])> {
            vec![$(($name::NAME, size_of::<$name>(), $name::fields())),*]
        }
    };
}
pub(crate) use structs;

structs! {
    "plumb_str" Str { data: *const u8, bytes: u64, }
    "plumb_bytes" Bytes { data: *const u8, bytes: u64, }
    "plumb_span" Span { begin: u64, end: u64, }
    "plumb_error" Error {
        struct_bytes: u32,
        capacity_bytes: u32,
        message: *mut u8,
        message_bytes: u32,
        op_id: u32,
    }
    "plumb_value" Value { struct_bytes: u32, kind: u32, content: ValueContent, }
    "plumb_metadata" Metadata {
        struct_bytes: u32,
        reserved: u32,
        context: *mut c_void,
        get: Option<unsafe extern "C" fn(*mut c_void, Str, *mut Value) -> Status>,
        key_at: Option<unsafe extern "C" fn(*mut c_void, u64) -> Str>,
    }
    "plumb_host" Host {
        struct_bytes: u32,
        reserved: u32,
        context: *mut c_void,
        log: Option<unsafe extern "C" fn(*mut c_void, i32, Str)>,
        map_file: Option<unsafe extern "C" fn(*mut c_void, Str, *mut Bytes, *mut u64, *mut Error) -> Status>,
        unmap_file: Option<unsafe extern "C" fn(*mut c_void, u64)>,
        drop_pages: Option<unsafe extern "C" fn(*mut c_void, u64, u64, u64)>,
        find_extension: Option<
            unsafe extern "C" fn(*mut c_void, Str, Str, *mut *const c_void, *mut *const Host, *mut Error) -> Status,
        >,
    }
    "plumb_offer" Offer {
        struct_bytes: u32,
        version_oldest: u32,
        version_newest: u32,
        reserved: u32,
        host: *const Host,
    }
    "plumb_answer" Answer {
        struct_bytes: u32,
        version: u32,
        version_oldest: u32,
        version_newest: u32,
        plugin: *const Plugin,
    }
    "plumb_plugin" Plugin {
        struct_bytes: u32,
        reserved: u32,
        id: Str,
        version: Str,
        vendor: Str,
        license: Str,
        description: Str,
        build: Str,
        probe: Option<unsafe extern "C" fn(*mut Error) -> Status>,
        rank: Option<unsafe extern "C" fn() -> i32>,
        extension: Option<unsafe extern "C" fn(Str) -> *const c_void>,
    }
    "plumb_tokenizer_info" TokenizerInfo {
        struct_bytes: u32,
        n_vocab: u32,
        bos_id: i32,
        eos_id: i32,
        unknown_id: i32,
        padding_id: i32,
        add_bos: u32,
        add_eos: u32,
        prefix_ids: *const i32,
        suffix_ids: *const i32,
        n_prefix: u32,
        n_suffix: u32,
        ill_formed: u32,
        reserved: u32,
    }
    "plumb_encode_request" EncodeRequest {
        struct_bytes: u32,
        special: u32,
        text: Str,
        untrusted: *const Span,
        n_untrusted: u64,
        barred_bits: *const u64,
    }
    "plumb_encode_result" EncodeResult {
        struct_bytes: u32,
        reserved: u32,
        ids: *mut i32,
        spans: *mut Span,
        capacity: u64,
        n: u64,
    }
    "plumb_tokenizer" Tokenizer {
        struct_bytes: u32,
        reserved: u32,
        recognise: Option<unsafe extern "C" fn(*const Metadata, *mut Error) -> Status>,
        create: Option<
            unsafe extern "C" fn(*const Host, *const Metadata, Str, *mut *mut c_void, *mut Error) -> Status,
        >,
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        info: Option<unsafe extern "C" fn(*mut c_void, *mut TokenizerInfo, *mut Error) -> Status>,
        attributes: Option<unsafe extern "C" fn(*mut c_void, i32) -> u32>,
        encode: Option<
            unsafe extern "C" fn(*mut c_void, *const EncodeRequest, *mut EncodeResult, *mut Error) -> Status,
        >,
        piece: Option<unsafe extern "C" fn(*mut c_void, i32, u32, *mut Bytes, *mut Error) -> Status>,
    }
    "plumb_spans" Spans { struct_bytes: u32, reserved: u32, spans: *mut Span, capacity: u64, n: u64, }
    "plumb_render_request" RenderRequest {
        struct_bytes: u32,
        reserved: u32,
        context_json: Str,
        now_unix_s: i64,
        fuel: u64,
        untrusted_json: Str,
        untrusted: *mut Spans,
    }
    "plumb_template_engine" TemplateEngine {
        struct_bytes: u32,
        reserved: u32,
        create: Option<unsafe extern "C" fn(*const Host, Str, Str, *mut *mut c_void, *mut Error) -> Status>,
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        render: Option<
            unsafe extern "C" fn(*mut c_void, *const RenderRequest, *mut u8, u64, *mut u64, *mut Error) -> Status,
        >,
    }
}

/// The union `as` of a plumb_value; `kind`, which C calls `type`, tells which member holds.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ValueContent {
    pub i64: i64,
    pub u64: u64,
    pub f64: f64,
    pub str: Str,
    pub array: ValueArray,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ValueArray {
    pub data: *const c_void,
    pub n: u64,
}

impl Str {
    pub const fn of(text: &'static str) -> Self {
        Str { data: text.as_ptr(), bytes: text.len() as u64 }
    }
}

/// A table of functions in static memory.
#[repr(transparent)]
pub struct Table<T>(pub T);
// SAFETY: what a plugin puts into a table is constant; its pointers are to static texts.
unsafe impl<T> Sync for Table<T> {}
