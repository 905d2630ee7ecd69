//! A tokenizer.json in the library, and the facts that the interface asks for.

use crate::pieces::{fallback_byte, Pieces};
use plumb::{abi, fail, Outcome};
use serde_json::Value;
use std::str::FromStr;
use std::sync::OnceLock;
use tokenizers::{Encoding, ModelWrapper, PostProcessorWrapper, Token, Tokenizer};

pub struct Library {
    parse: Tokenizer,
    off: OnceLock<Tokenizer>,
    pub pieces: Pieces,
    pub attributes: Vec<u8>,
    pub info: abi::TokenizerInfo,
    prefix: Vec<i32>,
    suffix: Vec<i32>,
}
// SAFETY: the pointers in `info` are to `prefix` and `suffix`, which never change.
unsafe impl Send for Library {}
unsafe impl Sync for Library {}

impl Library {
    /// json: tokenizer.json. config: the tokenizer_config.json beside it, or null.
    pub fn open(json: &str, config: &Value) -> Outcome<Library> {
        let mut library = Tokenizer::from_str(json).or_else(corrupt)?;
        let (prefix, suffix) = around_a_text(&library).or_else(corrupt)?;
        // A tokenizer neither adds nor cuts; spans are of all bytes that a token stands for; nothing is random.
        library.with_post_processor(None::<PostProcessorWrapper>).with_padding(None);
        library.with_truncation(None).or_else(corrupt)?;
        if let ModelWrapper::BPE(_) = library.get_model() {
            library = without_dropout(library);
        }
        let n_vocab = library.get_vocab(true).into_values().max().map_or(0, |last| last + 1);
        if n_vocab == 0 || n_vocab > i32::MAX as u32 {
            return fail(abi::CORRUPT, format!("tokenizer.json: {n_vocab} tokens"));
        }
        let mut made = Library {
            pieces: Pieces::new(&library, n_vocab),
            parse: library,
            off: OnceLock::new(),
            attributes: vec![0; n_vocab as usize],
            info: abi::TokenizerInfo { n_vocab, ..abi::TokenizerInfo::zeroed() },
            prefix,
            suffix,
        };
        made.read_roles(config);
        made.read_attributes();
        Ok(made)
    }

    pub fn encode(&self, text: &str, special: u32) -> Outcome<Encoding> {
        let library = if special == abi::SPECIAL_PARSE { &self.parse } else { self.off() };
        library.encode(text, false).or_else(|error| fail(abi::CORRUPT, error.to_string()))
    }

    /// Whole text of a list, as the library alone decodes it.
    pub fn decode(&self, ids: &[u32]) -> Outcome<String> {
        self.parse.decode(ids, false).or_else(|error| fail(abi::CORRUPT, error.to_string()))
    }

    pub fn piece(&self, id: i32, is_first: bool) -> Option<&[u8]> {
        self.pieces.get(&self.parse, u32::try_from(id).ok()?, is_first)
    }

    /// The mode is a state of the library's object, so the second mode is a second object.
    fn off(&self) -> &Tokenizer {
        self.off.get_or_init(|| {
            let mut copy = self.parse.clone();
            copy.set_encode_special_tokens(true);
            copy
        })
    }

    fn read_roles(&mut self, config: &Value) {
        let role = |key: &str| {
            let named = &config[key];
            let token = named.as_str().or_else(|| named["content"].as_str())?;
            self.parse.token_to_id(token)
        };
        let id = |found: Option<u32>| found.map_or(-1, |id| id as i32);
        let is_on = |key: &str| u32::from(config[key].as_bool() == Some(true));
        let unknown = role("unk_token").or_else(|| self.parse.token_to_id(unknown_token(self.parse.get_model())?));
        let (bos, eos) = (id(role("bos_token")), id(role("eos_token")));
        let is_byte_run = self.pieces.has_byte_fallback();
        self.info = abi::TokenizerInfo {
            bos_id: bos,
            eos_id: eos,
            unknown_id: id(unknown),
            padding_id: id(role("pad_token")),
            add_bos: u32::from(bos >= 0) & (is_on("add_bos_token") | u32::from(self.prefix.contains(&bos))),
            add_eos: u32::from(eos >= 0) & (is_on("add_eos_token") | u32::from(self.suffix.contains(&eos))),
            prefix_ids: self.prefix.as_ptr(),
            suffix_ids: self.suffix.as_ptr(),
            n_prefix: self.prefix.len() as u32,
            n_suffix: self.suffix.len() as u32,
            ill_formed: if is_byte_run { abi::ILL_FORMED_BYTE_RUN } else { abi::ILL_FORMED_MAXIMAL_SUBPART },
            ..self.info
        };
    }

    fn read_attributes(&mut self) {
        for (id, attributes) in self.attributes.iter_mut().enumerate() {
            let token = self.parse.id_to_token(id as u32);
            *attributes = match token {
                None => abi::TOKEN_UNUSED as u8,
                Some(token) if self.pieces.has_byte_fallback() && fallback_byte(&token).is_some() => {
                    abi::TOKEN_BYTE as u8
                }
                Some(_) => 0,
            };
        }
        for (id, token) in self.parse.get_added_tokens_decoder() {
            let kind = if token.special { abi::TOKEN_CONTROL } else { abi::TOKEN_USER_DEFINED };
            self.attributes[id as usize] |= kind as u8;
        }
        for (id, kind) in [(self.info.unknown_id, abi::TOKEN_UNKNOWN), (self.info.eos_id, abi::TOKEN_END)] {
            if let Some(attributes) = self.attributes.get_mut(id as usize) {
                *attributes |= kind as u8;
            }
        }
    }
}

fn corrupt<T>(error: impl std::fmt::Display) -> Outcome<T> {
    fail(abi::CORRUPT, format!("tokenizer.json: {error}").replace('\n', " "))
}

/// What the file's post-processor puts in front of one text and behind it.
fn around_a_text(library: &Tokenizer) -> tokenizers::Result<(Vec<i32>, Vec<i32>)> {
    let text = Encoding::from_tokens(vec![Token::new(0, String::new(), (0, 0))], 0);
    let whole = library.post_process(text, None, true)?;
    let place = whole.get_special_tokens_mask().iter().position(|mask| *mask == 0).unwrap_or(whole.len());
    let ids: Vec<i32> = whole.get_ids().iter().map(|id| *id as i32).collect();
    Ok((ids[..place].into(), ids.get(place + 1..).unwrap_or_default().into()))
}

fn without_dropout(mut library: Tokenizer) -> Tokenizer {
    if let ModelWrapper::BPE(model) = library.get_model() {
        if model.dropout.is_some() {
            let mut model = model.clone();
            model.dropout = None;
            library.with_model(model);
        }
    }
    library
}

fn unknown_token(model: &ModelWrapper) -> Option<&str> {
    match model {
        ModelWrapper::BPE(model) => model.get_unk_token().as_deref(),
        ModelWrapper::WordPiece(model) => Some(&model.unk_token),
        ModelWrapper::WordLevel(model) => Some(&model.unk_token),
        ModelWrapper::Unigram(_) => Some("<unk>"),
    }
}
