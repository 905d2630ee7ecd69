//! plumb.tokenizers.hf_rust: the Rust library `tokenizers` as it is, behind plumb.tokenizer/1. The reference that
//! plumb.tokenizers.hf is compared with.

mod library;
mod lossy;
mod pieces;
mod table;

plumb::plugin! { id: "plumb.tokenizers.hf_rust", rank: -10, extension: table::extension }
