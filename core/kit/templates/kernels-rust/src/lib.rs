//! The door, and the table of plumb.kernels/1.

mod matmul;
mod ops;
mod state;
mod weights;

use plumb::abi::{self, Error, Host, Status, Str, Table};
use plumb::kernels::{Handle, Kernels, KernelsConfig, KvShape, Op, OpQuery, Slice, Tensor, CANONICAL, EXT_KERNELS};
use plumb::{fail, guarded, instance, read, view, Outcome};
use state::{Object, State};
use std::ffi::c_void;
use std::ptr::null_mut;

// With two ops it is for those who name it: i32::MIN. A higher rank is for plugins that "auto" may choose.
plumb::plugin! { id: "@ID@", rank: i32::MIN, extension: extension }

fn extension(id: &[u8]) -> *const c_void {
    if id == EXT_KERNELS.as_bytes() { (&raw const TABLE).cast() } else { std::ptr::null() }
}

static TABLE: Table<Kernels> = Table(Kernels {
    struct_bytes: size_of::<Kernels>() as u32,
    numerics: Str::of(CANONICAL),
    create: Some(create),
    destroy: Some(destroy),
    supports: Some(supports),
    alloc: Some(alloc),
    free: Some(remove),
    read: Some(read_buffer),
    write: Some(write_buffer),
    host_pointer: Some(host_pointer),
    prepare_bytes: Some(prepare_bytes),
    prepare: Some(prepare),
    release: Some(remove),
    activation_bytes: Some(activation_bytes),
    kv_create: Some(kv_create),
    kv_destroy: Some(kv_destroy),
    kv_truncate: Some(kv_truncate),
    kv_export: Some(kv_export),
    kv_import: Some(kv_import),
    worker_create: Some(worker_create),
    worker_destroy: Some(remove),
    plan: Some(plan),
    execute: Some(execute),
    ..Kernels::zeroed()
});

unsafe extern "C" fn create(
    _host: *const Host, config: *const KernelsConfig, object: *mut *mut c_void, error: *mut Error,
) -> Status {
    guarded(error, || {
        let config = read(config, "options_json")?;
        if object.is_null() {
            return fail(abi::INVALID_ARGUMENT, "create: no place for the instance");
        }
        if !matches!(view(config.options_json, "options")?, b"" | b"{}") || config.variant.bytes != 0 {
            return fail(abi::INVALID_CONFIG, "options, variant: this backend has none");
        }
        *object = Box::into_raw(Box::new(State::new(config.n_workers_max))).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy(object: *mut c_void) {
    guarded(null_mut(), || {
        if !object.is_null() {
            drop(Box::from_raw(object.cast::<State>()));
        }
        Ok(())
    });
}

unsafe extern "C" fn supports(_object: *mut c_void, query: *const OpQuery, error: *mut Error) -> Status {
    guarded(error, || ops::supports(&read(query, "n_out")?))
}

unsafe extern "C" fn alloc(
    object: *mut c_void, bytes: u64, flags: u32, buffer: *mut Handle, error: *mut Error,
) -> Status {
    guarded(error, || {
        if flags != 0 {
            return fail(abi::UNSUPPORTED, "alloc: this memory is private");
        }
        give(buffer, instance::<State>(object)?.add(Object::buffer(bytes)?))
    })
}

unsafe fn give(place: *mut Handle, handle: Handle) -> Outcome<()> {
    match place.as_mut() {
        Some(place) => {
            *place = handle;
            Ok(())
        }
        None => fail(abi::INVALID_ARGUMENT, "no place for the handle"),
    }
}

unsafe extern "C" fn remove(object: *mut c_void, handle: Handle) {
    guarded(null_mut(), || {
        instance::<State>(object)?.remove(handle);
        Ok(())
    });
}

unsafe extern "C" fn read_buffer(
    object: *mut c_void, from: Slice, to: *mut c_void, bytes: u64, error: *mut Error,
) -> Status {
    guarded(error, || {
        let from = instance::<State>(object)?.memory(from, bytes)?;
        std::ptr::copy_nonoverlapping(from, to.cast::<u8>(), bytes as usize);
        Ok(())
    })
}

unsafe extern "C" fn write_buffer(
    object: *mut c_void, to: Slice, from: *const c_void, bytes: u64, error: *mut Error,
) -> Status {
    guarded(error, || {
        let to = instance::<State>(object)?.memory(to, bytes)?;
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to, bytes as usize);
        Ok(())
    })
}

unsafe extern "C" fn host_pointer(object: *mut c_void, slice: Slice) -> *mut c_void {
    instance::<State>(object).and_then(|state| state.memory(slice, 0)).map_or(null_mut(), |at| at.cast())
}

unsafe extern "C" fn prepare_bytes(
    _object: *mut c_void, tensor: *const Tensor, uses: u32, bytes: *mut u64, error: *mut Error,
) -> Status {
    guarded(error, || give(bytes, weights::plan(&read(tensor, "data")?, uses)?.n_bytes()))
}

unsafe extern "C" fn prepare(
    object: *mut c_void, tensor: *const Tensor, uses: u32, destination: Slice, weight: *mut Handle, error: *mut Error,
) -> Status {
    guarded(error, || {
        let state = instance::<State>(object)?;
        give(weight, state.add(weights::prepare(state, &read(tensor, "data")?, uses, destination)?))
    })
}

unsafe extern "C" fn activation_bytes(_object: *mut c_void, n_rows: u64, width: u64) -> u64 {
    ops::activation_bytes(n_rows, width)
}

unsafe extern "C" fn worker_create(object: *mut c_void, index: u32, worker: *mut Handle, error: *mut Error) -> Status {
    guarded(error, || {
        let state = instance::<State>(object)?;
        if index >= state.n_workers_max {
            return fail(abi::INVALID_ARGUMENT, format!("worker {index}: the config allows {}", state.n_workers_max));
        }
        give(worker, state.add(Object::Worker))
    })
}

/// No op needs scratch.
unsafe extern "C" fn plan(_object: *mut c_void, _ops: *const Op, _n_ops: u32, _error: *mut Error) -> Status {
    abi::OK
}

unsafe extern "C" fn execute(
    object: *mut c_void, ops: *const Op, n_ops: u32, worker: Handle, part: u32, n_parts: u32, error: *mut Error,
) -> Status {
    let mut result = abi::OK;
    let checked = guarded(error, || {
        let state = instance::<State>(object)?;
        if part >= n_parts || !state.has_worker(worker) {
            return fail(abi::INVALID_ARGUMENT, "execute: worker or part");
        }
        result = plumb::kernels::for_each_op(ops, n_ops, error, |op| ops::run(state, op, part, n_parts));
        Ok(())
    });
    if checked == abi::OK { result } else { checked }
}

// KV caches are another backend's.
unsafe fn no_kv(error: *mut Error) -> Status {
    guarded(error, || fail(abi::UNSUPPORTED, "this backend has no KV caches"))
}
unsafe extern "C" fn kv_create(_: *mut c_void, _: *const KvShape, _: *mut Handle, error: *mut Error) -> Status {
    no_kv(error)
}
unsafe extern "C" fn kv_destroy(_: *mut c_void, _: Handle) {}
unsafe extern "C" fn kv_truncate(_: *mut c_void, _: Handle, _: u32, error: *mut Error) -> Status {
    no_kv(error)
}
unsafe extern "C" fn kv_export(
    _: *mut c_void, _: Handle, _: u32, _: u32, _: *mut f32, _: *mut f32, _: *mut i32, error: *mut Error,
) -> Status {
    no_kv(error)
}
unsafe extern "C" fn kv_import(
    _: *mut c_void, _: Handle, _: u32, _: u32, _: *const f32, _: *const f32, _: *const i32, error: *mut Error,
) -> Status {
    no_kv(error)
}
