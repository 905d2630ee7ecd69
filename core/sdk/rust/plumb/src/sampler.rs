//! plumb.sampler/1: the structs of plumb/ext/sampler.h, which says what a field means.

use crate::abi::{structs, Abi, Error, Host, Place, Status, Str};
use std::ffi::c_void;

pub const EXT_SAMPLER: &str = "plumb.sampler/1";

pub const ORDER_ID: u32 = 0;
pub const ORDER_LOGIT: u32 = 1;

structs! {
    "plumb_candidates" Candidates {
        struct_bytes: u32,
        order: u32,
        ids: *mut i32,
        logits: *mut f32,
        n: u32,
        picked: i32,
        coin: f64,
        probability: f64,
        n_capped: u32,
        cap_edge: i32,
    }
    "plumb_sample_context" SampleContext {
        struct_bytes: u32,
        n_vocab: u32,
        seed: u64,
        step: u64,
        prompt_ids: *const i32,
        n_prompt_ids: u64,
        generated_ids: *const i32,
        n_generated_ids: u64,
        control_bits: *const u64,
        breaker_ids: *const i32,
        n_breaker_ids: u64,
        allowed_bits: *const u64,
    }
    "plumb_sampler" Sampler {
        struct_bytes: u32,
        reserved: u32,
        stage_at: Option<unsafe extern "C" fn(u32) -> Str>,
        parameters_schema_at: Option<unsafe extern "C" fn(u32) -> Str>,
        create: Option<unsafe extern "C" fn(*const Host, Str, Str, u32, *mut *mut c_void, *mut Error) -> Status>,
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        scratch_bytes: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
        apply: Option<
            unsafe extern "C" fn(*mut c_void, *const SampleContext, *mut c_void, *mut Candidates, *mut Error) -> Status,
        >,
        state_bytes: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
        state_get: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut Error) -> Status>,
        state_set: Option<unsafe extern "C" fn(*mut c_void, *const c_void, *mut Error) -> Status>,
    }
}
