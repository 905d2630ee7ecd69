//! Oracle: golden/abi/layout.txt, the layout that was released, as C sees it.

use plumb::{abi, kernels, sampler};
use std::collections::BTreeMap;

const GOLDEN: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../golden/abi/layout.txt"));

/// Names that C has and Rust cannot use.
fn name_in_c<'a>(of: &str, name: &'a str) -> &'a str {
    match (of, name) {
        ("plumb_value", "kind") => "type",
        (_, "content") => "as",
        (_, "input") => "in",
        (_, other) => other,
    }
}

type Fields<'a> = Vec<(&'a str, usize, usize)>;

fn golden() -> BTreeMap<&'static str, (usize, Fields<'static>)> {
    let mut structs = BTreeMap::new();
    let mut last = "";
    for line in GOLDEN.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        if !line.starts_with(' ') {
            last = words[0];
            structs.insert(last, (number(1), Vec::new()));
        } else if !words[0].contains('.') {
            structs.get_mut(last).unwrap().1.push((words[0], number(1), number(2)));
        }
    }
    structs
}

#[test]
fn every_struct_is_laid_out_as_in_c() {
    let golden = golden();
    let ours = [abi::layouts(), kernels::layouts(), sampler::layouts()].concat();
    for (name, size, fields) in &ours {
        let fields: Fields = fields.iter().map(|(field, offset, size)| (name_in_c(name, field), *offset, *size)).collect();
        assert_eq!(golden.get(*name), Some(&(*size, fields)), "{name}");
    }
    assert!(ours.len() > 30);
}
