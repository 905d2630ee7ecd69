//! The C table of plumb.tokenizer/1, and this plugin's own extension of whole_decode.h.

use crate::library::Library;
use crate::lossy::Lossy;
use plumb::abi::{self, Error, Metadata, Span, Status, Str};
use plumb::{fail, guarded, instance, read, text, view, write, Outcome};
use serde_json::Value;
use std::ffi::c_void;

const KEY_JSON: &str = "tokenizer.huggingface.json";
const KEY_CONFIG: &str = "tokenizer.huggingface.config";
/// As plumb/sdk/tokenizer/encoder.h has it.
const LONGEST_TEXT_BYTES: u64 = 1 << 30;

const EXT_WHOLE_DECODE: &str = "plumb.tokenizers.hf_rust.whole_decode/1";

#[repr(C)]
struct WholeDecode {
    struct_bytes: u32,
    reserved: u32,
    decode: unsafe extern "C" fn(*mut c_void, *const i32, u64, *mut u8, u64, *mut u64, *mut Error) -> Status,
}

static TOKENIZER: abi::Table<abi::Tokenizer> = abi::Table(abi::Tokenizer {
    struct_bytes: size_of::<abi::Tokenizer>() as u32,
    reserved: 0,
    recognise: Some(recognise),
    create: Some(create),
    destroy: Some(destroy),
    info: Some(info),
    attributes: Some(attributes),
    encode: Some(encode),
    piece: Some(piece),
});
static WHOLE_DECODE: abi::Table<WholeDecode> =
    abi::Table(WholeDecode { struct_bytes: size_of::<WholeDecode>() as u32, reserved: 0, decode: whole_decode });

pub fn extension(id: &[u8]) -> *const c_void {
    if id == abi::EXT_TOKENIZER.as_bytes() {
        (&raw const TOKENIZER).cast()
    } else if id == EXT_WHOLE_DECODE.as_bytes() {
        (&raw const WHOLE_DECODE).cast()
    } else {
        std::ptr::null()
    }
}

/// The text of a key, or None where the metadata lacks it.
unsafe fn lookup<'a>(metadata: *const Metadata, key: &'static str) -> Outcome<Option<&'a str>> {
    let metadata = read(metadata, "get")?;
    let mut value = abi::Value { struct_bytes: size_of::<abi::Value>() as u32, ..abi::Value::zeroed() };
    let Some(get) = metadata.get else { return fail(abi::INVALID_ARGUMENT, "plumb_metadata.get is null") };
    if get(metadata.context, Str::of(key), &mut value) != abi::OK {
        return Ok(None);
    }
    if value.kind != abi::VALUE_STR {
        return fail(abi::CORRUPT, format!("{key}: a string expected, a value of type {} found", value.kind));
    }
    text(value.content.str, key).map(Some)
}

unsafe fn json_of<'a>(metadata: *const Metadata) -> Outcome<&'a str> {
    let json = lookup(metadata, KEY_JSON)?;
    json.map_or_else(|| fail(abi::UNSUPPORTED, format!("{KEY_JSON} expected, not there")), Ok)
}

unsafe extern "C" fn recognise(metadata: *const Metadata, error: *mut Error) -> Status {
    guarded(error, || json_of(metadata).map(|_| ()))
}

unsafe extern "C" fn create(
    _host: *const abi::Host, metadata: *const Metadata, options_json: Str, object: *mut *mut c_void, error: *mut Error,
) -> Status {
    guarded(error, || {
        if object.is_null() {
            return fail(abi::INVALID_ARGUMENT, "self is null");
        }
        if !matches!(view(options_json, "options_json")?, b"" | b"{}" | b"null") {
            return fail(abi::INVALID_CONFIG, "this tokenizer has no options");
        }
        let json = json_of(metadata)?;
        let config = match lookup(metadata, KEY_CONFIG)? {
            Some(config) => serde_json::from_str(config)
                .or_else(|error| fail(abi::CORRUPT, format!("tokenizer_config.json: {error}")))?,
            None => Value::Null,
        };
        *object = Box::into_raw(Box::new(Library::open(json, &config)?)).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy(object: *mut c_void) {
    guarded(std::ptr::null_mut(), || {
        if !object.is_null() {
            drop(Box::from_raw(object.cast::<Library>()));
        }
        Ok(())
    });
}

unsafe extern "C" fn info(object: *mut c_void, info: *mut abi::TokenizerInfo, error: *mut Error) -> Status {
    guarded(error, || write(info, &instance::<Library>(object)?.info, "add_eos"))
}

unsafe extern "C" fn attributes(object: *mut c_void, id: i32) -> u32 {
    let library = instance::<Library>(object).ok();
    let found = library.and_then(|library| library.attributes.get(usize::try_from(id).ok()?));
    found.map_or(abi::TOKEN_UNUSED, |attributes| u32::from(*attributes))
}

unsafe extern "C" fn encode(
    object: *mut c_void, request: *const abi::EncodeRequest, result: *mut abi::EncodeResult, error: *mut Error,
) -> Status {
    guarded(error, || {
        let library = instance::<Library>(object)?;
        let request = read(request, "text")?;
        let mut reply = read(result, "n")?;
        if request.special > abi::SPECIAL_PARSE {
            return fail(abi::INVALID_ARGUMENT, format!("special is {}, 0 (off) or 1 (parse) expected", request.special));
        }
        if request.text.bytes > LONGEST_TEXT_BYTES {
            let seen = request.text.bytes;
            return fail(abi::INVALID_ARGUMENT, format!("text of {seen} bytes, at most {LONGEST_TEXT_BYTES} expected"));
        }
        if reply.capacity > 0 && reply.ids.is_null() {
            return fail(abi::INVALID_ARGUMENT, "ids is null with a capacity");
        }
        let lossy = Lossy::new(view(request.text, "text")?);
        let encoding = library.encode(&lossy.text, request.special)?;
        let span = |place: &(usize, usize)| Span { begin: lossy.to_source(place.0), end: lossy.to_source(place.1) };
        let found = || encoding.get_ids().iter().zip(encoding.get_offsets().iter().map(span));
        refuse_barred(&request, found())?;
        reply.n = encoding.len() as u64;
        write(result, &reply, "n")?;
        for (at, (id, span)) in found().enumerate().take(usize::try_from(reply.capacity).unwrap_or(usize::MAX)) {
            *reply.ids.add(at) = *id as i32;
            if !reply.spans.is_null() {
                *reply.spans.add(at) = span;
            }
        }
        if reply.n > reply.capacity {
            return fail(abi::MORE_SPACE, format!("{} ids, room for {}", reply.n, reply.capacity));
        }
        Ok(())
    })
}

/// The library cannot leave out a literal at one place, so an encoding that would need it is refused.
unsafe fn refuse_barred<'a>(
    request: &abi::EncodeRequest, mut found: impl Iterator<Item = (&'a u32, Span)>,
) -> Outcome<()> {
    if request.barred_bits.is_null() || request.n_untrusted == 0 {
        return Ok(());
    }
    if request.untrusted.is_null() {
        return fail(abi::INVALID_ARGUMENT, "untrusted is null with n_untrusted");
    }
    let ranges = std::slice::from_raw_parts(request.untrusted, request.n_untrusted as usize);
    let is_barred = |id: u32| *request.barred_bits.add(id as usize / 64) >> (id % 64) & 1 == 1;
    let overlaps = |span: &Span| {
        let first = ranges.partition_point(|range| range.end <= span.begin);
        ranges.get(first).is_some_and(|range| range.begin < span.end)
    };
    match found.find(|(id, span)| is_barred(**id) && overlaps(span)) {
        None => Ok(()),
        Some((id, span)) => fail(
            abi::UNSUPPORTED,
            format!(
                "bytes {} to {} of an untrusted text would become the control token {id}, which this library \
                 cannot prevent: use plumb.tokenizers.hf",
                span.begin, span.end
            ),
        ),
    }
}

unsafe extern "C" fn piece(
    object: *mut c_void, id: i32, is_first: u32, bytes: *mut abi::Bytes, error: *mut Error,
) -> Status {
    guarded(error, || {
        let library = instance::<Library>(object)?;
        if bytes.is_null() {
            return fail(abi::INVALID_ARGUMENT, "bytes is null");
        }
        let Some(piece) = library.piece(id, is_first != 0) else {
            let last = library.info.n_vocab - 1;
            return fail(abi::INVALID_ARGUMENT, format!("token {id}, 0 to {last} expected"));
        };
        *bytes = abi::Bytes { data: piece.as_ptr(), bytes: piece.len() as u64 };
        Ok(())
    })
}

unsafe extern "C" fn whole_decode(
    object: *mut c_void, ids: *const i32, n: u64, out: *mut u8, capacity: u64, n_bytes: *mut u64, error: *mut Error,
) -> Status {
    guarded(error, || {
        let library = instance::<Library>(object)?;
        if n_bytes.is_null() || (ids.is_null() && n > 0) || (out.is_null() && capacity > 0) {
            return fail(abi::INVALID_ARGUMENT, "whole_decode: an argument is null");
        }
        let ids = if n == 0 { &[] } else { std::slice::from_raw_parts(ids.cast::<u32>(), n as usize) };
        let decoded = library.decode(ids)?;
        *n_bytes = decoded.len() as u64;
        if *n_bytes > capacity {
            return fail(abi::MORE_SPACE, format!("{n_bytes:?} bytes, room for {capacity}", n_bytes = *n_bytes));
        }
        std::ptr::copy_nonoverlapping(decoded.as_ptr(), out, decoded.len());
        Ok(())
    })
}
