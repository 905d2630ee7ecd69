//! The door, and the table of plumb.sampler/1.

mod near_top;

use near_top::NearTop;
use plumb::abi::{self, Error, Host, Status, Str, Table};
use plumb::sampler::{Candidates, SampleContext, Sampler, EXT_SAMPLER};
use plumb::{fail, guarded, instance, text};
use std::ffi::c_void;
use std::ptr::null_mut;

plumb::plugin! { id: "@ID@", rank: 0, extension: extension }

fn extension(id: &[u8]) -> *const c_void {
    if id == EXT_SAMPLER.as_bytes() { (&raw const TABLE).cast() } else { std::ptr::null() }
}

// A stage with a state has the last three functions too.
static TABLE: Table<Sampler> = Table(Sampler {
    struct_bytes: size_of::<Sampler>() as u32,
    stage_at: Some(stage_at),
    parameters_schema_at: Some(parameters_schema_at),
    create: Some(create),
    destroy: Some(destroy),
    scratch_bytes: Some(scratch_bytes),
    apply: Some(apply),
    ..Sampler::zeroed()
});

unsafe extern "C" fn stage_at(index: u32) -> Str {
    Str::of(if index == 0 { "near_top" } else { "" })
}

unsafe extern "C" fn parameters_schema_at(index: u32) -> Str {
    Str::of(if index == 0 { near_top::PARAMETERS } else { "" })
}

unsafe extern "C" fn create(
    _host: *const Host, stage: Str, params_json: Str, _n_vocab: u32, object: *mut *mut c_void, error: *mut Error,
) -> Status {
    guarded(error, || {
        if object.is_null() {
            return fail(abi::INVALID_ARGUMENT, "create: no place for the stage");
        }
        if text(stage, "stage")? != "near_top" {
            return fail(abi::NOT_FOUND, "the only stage here is near_top");
        }
        let stage = NearTop::from_json(text(params_json, "parameters")?)?;
        *object = Box::into_raw(Box::new(stage)).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy(object: *mut c_void) {
    guarded(null_mut(), || {
        if !object.is_null() {
            drop(Box::from_raw(object.cast::<NearTop>()));
        }
        Ok(())
    });
}

unsafe extern "C" fn scratch_bytes(_object: *mut c_void) -> u64 {
    0
}

unsafe extern "C" fn apply(
    object: *mut c_void, _context: *const SampleContext, _scratch: *mut c_void, candidates: *mut Candidates,
    error: *mut Error,
) -> Status {
    guarded(error, || {
        let stage = instance::<NearTop>(object)?;
        let Some(left) = candidates.as_mut().filter(|left| left.n > 0 && !left.ids.is_null() && !left.logits.is_null())
        else {
            return fail(abi::INVALID_ARGUMENT, "apply: no candidates");
        };
        let ids = std::slice::from_raw_parts_mut(left.ids, left.n as usize);
        let logits = std::slice::from_raw_parts_mut(left.logits, left.n as usize);
        left.n = stage.keep(ids, logits)? as u32;
        Ok(())
    })
}
