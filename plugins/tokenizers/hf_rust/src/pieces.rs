//! The bytes of one token inside a decoded text. The library decodes lists into whole text, so a token's part is what
//! it adds behind another one; where that is no whole character, the token's own spelling tells the bytes.

use std::collections::HashMap;
use std::sync::OnceLock;
use tokenizers::{DecoderWrapper, Tokenizer};

/// How the file's decoder spells bytes.
#[derive(Clone, Copy, PartialEq)]
enum Spelling {
    Text,
    ByteLevel,
    ByteFallback,
}

pub struct Pieces {
    spelling: Spelling,
    anchor: Option<(u32, String)>,
    first: Vec<OnceLock<Box<[u8]>>>,
    inner: Vec<OnceLock<Box<[u8]>>>,
}

impl Pieces {
    pub fn new(library: &Tokenizer, n_vocab: u32) -> Self {
        let empty = || (0..n_vocab).map(|_| OnceLock::new()).collect();
        Pieces {
            spelling: library.get_decoder().map_or(Spelling::Text, spelling_of),
            anchor: (0..n_vocab).find_map(|id| anchor(library, id)),
            first: empty(),
            inner: empty(),
        }
    }

    /// Whether tokens such as <0x41> decode as that byte.
    pub fn has_byte_fallback(&self) -> bool {
        self.spelling == Spelling::ByteFallback
    }

    /// None outside the vocabulary.
    pub fn get(&self, library: &Tokenizer, id: u32, is_first: bool) -> Option<&[u8]> {
        let kept = if is_first { &self.first } else { &self.inner };
        Some(kept.get(id as usize)?.get_or_init(|| self.make(library, id, is_first)))
    }

    fn make(&self, library: &Tokenizer, id: u32, is_first: bool) -> Box<[u8]> {
        let text = self.decoded(library, id, is_first);
        let spelled = if text.contains(char::REPLACEMENT_CHARACTER) { self.spelled(library, id) } else { None };
        spelled.unwrap_or(text.into_bytes()).into()
    }

    fn decoded(&self, library: &Tokenizer, id: u32, is_first: bool) -> String {
        if let (false, Some((anchor, before))) = (is_first, &self.anchor) {
            let pair = library.decode(&[*anchor, id], false).unwrap_or_default();
            if let Some(rest) = pair.strip_prefix(before.as_str()) {
                return rest.into();
            }
        }
        library.decode(&[id], false).unwrap_or_default()
    }

    fn spelled(&self, library: &Tokenizer, id: u32) -> Option<Vec<u8>> {
        let token = spelling(library, id)?;
        match self.spelling {
            Spelling::Text => None,
            Spelling::ByteLevel => token.chars().map(|character| byte_alphabet().get(&character).copied()).collect(),
            Spelling::ByteFallback => Some(vec![fallback_byte(&token)?]),
        }
    }
}

/// The byte that a token like <0x0A> stands for.
pub fn fallback_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// A token as the library's decoder sees it.
fn spelling(library: &Tokenizer, id: u32) -> Option<String> {
    library.get_added_vocabulary().simple_id_to_token(id).or_else(|| library.id_to_token(id))
}

/// A token of plain letters, behind which others show what they are inside a text.
fn anchor(library: &Tokenizer, id: u32) -> Option<(u32, String)> {
    let token = library.id_to_token(id).filter(|token| token.bytes().all(|byte| byte.is_ascii_lowercase()))?;
    let text = library.decode(&[id], false).ok()?;
    (!token.is_empty() && text == token).then_some((id, text))
}

fn spelling_of(decoder: &DecoderWrapper) -> Spelling {
    match decoder {
        DecoderWrapper::ByteLevel(_) => Spelling::ByteLevel,
        DecoderWrapper::ByteFallback(_) => Spelling::ByteFallback,
        DecoderWrapper::Sequence(sequence) => {
            let parts = sequence.get_decoders().iter().map(spelling_of);
            parts.fold(Spelling::Text, |found, part| if found == Spelling::Text { part } else { found })
        }
        _ => Spelling::Text,
    }
}

/// The alphabet of ByteLevel: a character for each byte. Printable characters of Latin-1 are themselves, the other bytes
/// follow from U+0100 on.
/// Source: GPT-2, encoder.py, bytes_to_unicode.
fn byte_alphabet() -> &'static HashMap<char, u8> {
    static ALPHABET: OnceLock<HashMap<char, u8>> = OnceLock::new();
    ALPHABET.get_or_init(|| {
        let mut next = 0x100..;
        let is_printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        let code_point = |byte: u8| if is_printable(byte) { Some(byte.into()) } else { next.next() };
        let characters: Vec<Option<u32>> = (0..=255).map(code_point).collect();
        let pairs = characters.into_iter().zip(0..=255);
        pairs.filter_map(|(code_point, byte)| Some((char::from_u32(code_point?)?, byte))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::{byte_alphabet, fallback_byte};
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;

    /// Oracle: the library's own alphabet, and how it decodes.
    #[test]
    fn the_alphabet_is_the_librarys() {
        let ours: std::collections::HashSet<char> = byte_alphabet().keys().copied().collect();
        assert_eq!(ours, ByteLevel::alphabet().into_iter().collect());
        for (letter, byte) in byte_alphabet() {
            let decoded = tokenizers::Decoder::decode(&ByteLevel::default(), vec![letter.to_string()]).unwrap();
            assert_eq!(decoded, String::from_utf8_lossy(&[*byte]));
        }
    }

    #[test]
    fn byte_tokens_have_two_digits() {
        assert_eq!(fallback_byte("<0x0A>"), Some(10));
        for other in ["<0xA>", "<0x0AA>", "<0x0A", "0x0A", "<0xGG>", "<0xé>", ""] {
            assert_eq!(fallback_byte(other), None, "{other}");
        }
    }
}
