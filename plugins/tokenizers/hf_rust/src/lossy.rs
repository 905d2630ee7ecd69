//! Text for a library that takes only well-formed UTF-8: broken parts are U+FFFD, and places can be told in the bytes
//! that were there.

use std::borrow::Cow;

pub struct Lossy<'a> {
    pub text: Cow<'a, str>,
    /// Where a replacement begins or ends: bytes in `text`, bytes in the source.
    marks: Vec<(usize, usize)>,
}

impl<'a> Lossy<'a> {
    pub fn new(source: &'a [u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(source) {
            return Lossy { text: text.into(), marks: Vec::new() };
        }
        let (mut text, mut marks, mut at) = (String::with_capacity(source.len()), Vec::new(), 0);
        for chunk in source.utf8_chunks() {
            text.push_str(chunk.valid());
            at += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                marks.push((text.len(), at));
                text.push(char::REPLACEMENT_CHARACTER);
                at += chunk.invalid().len();
                marks.push((text.len(), at));
            }
        }
        Lossy { text: text.into(), marks }
    }

    /// The source's place of a character boundary of `text`.
    pub fn to_source(&self, at: usize) -> u64 {
        let n_before = self.marks.partition_point(|mark| mark.0 <= at);
        let (text_at, source_at) = if n_before == 0 { (0, 0) } else { self.marks[n_before - 1] };
        (source_at + (at - text_at)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Lossy;

    #[test]
    fn places_are_those_of_the_source() {
        let lossy = Lossy::new(b"a\xf0\x9f\x98\xffb\xe4\xb8");
        assert_eq!(lossy.text, "a\u{fffd}\u{fffd}b\u{fffd}");
        let places: Vec<u64> = [0, 1, 4, 7, 8, 11].iter().map(|at| lossy.to_source(*at)).collect();
        assert_eq!(places, [0, 1, 4, 5, 6, 8]);
        assert_eq!(Lossy::new("é".as_bytes()).to_source(2), 2);
    }
}
