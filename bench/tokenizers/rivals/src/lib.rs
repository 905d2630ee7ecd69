//! Other people's tokenizers behind four C functions. A tokenizer is opened once, and encodes a
//! text into the caller's ids; it answers with how many there are, written or not.

use std::slice;

use tokenizers::Tokenizer;

/// One opened tokenizer.
pub enum Rival {
    Huggingface(Box<Tokenizer>),
    Tiktoken(&'static tiktoken_rs::CoreBPE),
    BpeOpenai(&'static bpe_openai::Tokenizer),
}

impl Rival {
    fn open(name: &str, path: &str) -> Option<Rival> {
        match name {
            "tokenizers" => Some(Rival::Huggingface(Box::new(Tokenizer::from_file(path).ok()?))),
            "tiktoken-rs" => Some(Rival::Tiktoken(tiktoken_rs::o200k_base_singleton())),
            "bpe-openai" => Some(Rival::BpeOpenai(bpe_openai::o200k_base())),
            _ => None,
        }
    }

    fn encode(&self, text: &str) -> Vec<u32> {
        match self {
            // The fast call leaves out the offsets, as the others do.
            Rival::Huggingface(tokenizer) => tokenizer
                .encode_fast(text, false)
                .map(|encoding| encoding.get_ids().to_vec())
                .unwrap_or_default(),
            Rival::Tiktoken(bpe) => bpe.encode_ordinary(text),
            Rival::BpeOpenai(tokenizer) => tokenizer.encode(text),
        }
    }
}

/// Null if the name is unknown or the file cannot be read. `path`: the tokenizer.json, for those
/// that read one.
///
/// # Safety
/// Both texts are valid for their lengths.
#[no_mangle]
pub unsafe extern "C" fn rival_open(
    name: *const u8,
    name_bytes: usize,
    path: *const u8,
    path_bytes: usize,
) -> *mut Rival {
    let text = |data, n| std::str::from_utf8(slice::from_raw_parts(data, n)).unwrap_or("");
    match Rival::open(text(name, name_bytes), text(path, path_bytes)) {
        Some(rival) => Box::into_raw(Box::new(rival)),
        None => std::ptr::null_mut(),
    }
}

/// # Safety
/// `rival` comes from rival_open; the text is well-formed UTF-8; `ids` has room for `capacity`.
#[no_mangle]
pub unsafe extern "C" fn rival_encode(
    rival: *const Rival,
    text: *const u8,
    text_bytes: usize,
    ids: *mut u32,
    capacity: usize,
) -> usize {
    let found = (*rival).encode(std::str::from_utf8_unchecked(slice::from_raw_parts(text, text_bytes)));
    let n = found.len().min(capacity);
    std::ptr::copy_nonoverlapping(found.as_ptr(), ids, n);
    found.len()
}

/// # Safety
/// `rival` comes from rival_open and is not used afterwards.
#[no_mangle]
pub unsafe extern "C" fn rival_close(rival: *mut Rival) {
    drop(Box::from_raw(rival));
}
