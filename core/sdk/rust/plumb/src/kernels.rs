//! plumb.kernels/1: the structs of plumb/formats.h and plumb/ext/kernels.h, and how a list of ops is read. What a field
//! means stands in those headers.

use crate::abi::{self, structs, Abi, Bytes, Error, Host, Place, Status, Str};
use crate::call::{fail, guarded, Outcome};
use std::ffi::c_void;

pub const EXT_KERNELS: &str = "plumb.kernels/1";
pub const CANONICAL: &str = "canonical-1";

pub const F32: i32 = 0;
pub const F16: i32 = 1;
pub const Q8_0: i32 = 8;
pub const BF16: i32 = 30;
pub const ACT_Q8: i32 = 1000;
/// Values in a block of Q8_0 and of quantised activations.
pub const QK: usize = 32;

pub const OP_EMBED: u32 = 1;
pub const OP_RMS_NORM: u32 = 2;
pub const OP_LAYER_NORM: u32 = 3;
pub const OP_QUANTIZE: u32 = 4;
pub const OP_MATMUL: u32 = 5;
pub const OP_ROPE: u32 = 6;
pub const OP_KV_APPEND: u32 = 7;
pub const OP_ATTEND: u32 = 8;
pub const OP_ACTIVATE: u32 = 9;
pub const OP_ADD: u32 = 10;
pub const OP_SCALE: u32 = 11;
pub const OP_SOFTCAP: u32 = 12;
pub const OP_ARGMAX: u32 = 13;

pub const USE_MATMUL: u32 = 1;
pub const USE_EMBED: u32 = 2;
pub const USE_VECTOR: u32 = 4;

pub type Handle = u64;

structs! {
    "plumb_slice" Slice { buffer: Handle, offset_bytes: u64, }
    "plumb_tensor" Tensor {
        struct_bytes: u32,
        format: i32,
        name: Str,
        rank: u32,
        reserved: u32,
        dims: [u64; 4],
        data: Bytes,
        file_offset: u64,
    }
    "plumb_op_embed" OpEmbed { weight: Handle, ids: Slice, out: Slice, }
    "plumb_op_norm" OpNorm {
        input: Slice,
        out: Slice,
        weight: Handle,
        bias: Handle,
        n_groups: u32,
        width: u32,
        epsilon: f32,
        reserved: u32,
    }
    "plumb_op_quantize" OpQuantize { input: Slice, out: Slice, width: u32, reserved: u32, }
    "plumb_op_matmul" OpMatmul {
        weight: Handle,
        bias: Handle,
        input: Slice,
        out: Slice,
        in_format: i32,
        n_in: u32,
        n_out: u32,
        reserved: u32,
    }
    "plumb_op_rope" OpRope {
        input: Slice,
        out: Slice,
        positions: Slice,
        cos_table: Slice,
        sin_table: Slice,
        table_rows: u32,
        n_heads: u32,
        head_width: u32,
        n_rotated: u32,
        pairing: u32,
        reserved: u32,
    }
    "plumb_op_kv_append" OpKvAppend {
        kv: Handle,
        k: Slice,
        v: Slice,
        positions: Slice,
        first_row: u32,
        reserved: u32,
    }
    "plumb_op_attend" OpAttend {
        kv: Handle,
        q: Slice,
        out: Slice,
        positions: Slice,
        bitmap: Slice,
        n_rows_kv: u32,
        first_row: u32,
        n_heads: u32,
        mask: u32,
        window: u32,
        scale: f32,
        softcap: f32,
        reserved: u32,
    }
    "plumb_op_elementwise" OpElementwise {
        a: Slice,
        b: Slice,
        out: Slice,
        width: u32,
        function: u32,
        parameter: f32,
        reserved: u32,
    }
    "plumb_op_argmax" OpArgmax { input: Slice, out: Slice, width: u32, reserved: u32, }
    "plumb_op" Op { struct_bytes: u32, kind: u32, id: u32, n_rows: u32, content: OpContent, }
    "plumb_op_query" OpQuery {
        struct_bytes: u32,
        kind: u32,
        weight_format: i32,
        in_format: i32,
        n_in: u64,
        n_out: u64,
        head_width: u32,
        variant: u32,
    }
    "plumb_kv_shape" KvShape {
        struct_bytes: u32,
        format: i32,
        capacity_rows: u32,
        n_heads_kv: u32,
        head_width: u32,
        reserved: u32,
    }
    "plumb_kernels_config" KernelsConfig {
        struct_bytes: u32,
        n_workers_max: u32,
        options_json: Str,
        variant: Str,
    }
    "plumb_kernels" Kernels {
        struct_bytes: u32,
        reserved: u32,
        numerics: Str,
        create: Option<unsafe extern "C" fn(*const Host, *const KernelsConfig, *mut *mut c_void, *mut Error) -> Status>,
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        supports: Option<unsafe extern "C" fn(*mut c_void, *const OpQuery, *mut Error) -> Status>,
        alloc: Option<unsafe extern "C" fn(*mut c_void, u64, u32, *mut Handle, *mut Error) -> Status>,
        free: Option<unsafe extern "C" fn(*mut c_void, Handle)>,
        import_fd: Option<unsafe extern "C" fn(*mut c_void, i32, u64, u64, *mut Handle, *mut Error) -> Status>,
        read: Option<unsafe extern "C" fn(*mut c_void, Slice, *mut c_void, u64, *mut Error) -> Status>,
        write: Option<unsafe extern "C" fn(*mut c_void, Slice, *const c_void, u64, *mut Error) -> Status>,
        host_pointer: Option<unsafe extern "C" fn(*mut c_void, Slice) -> *mut c_void>,
        prepare_bytes: Option<unsafe extern "C" fn(*mut c_void, *const Tensor, u32, *mut u64, *mut Error) -> Status>,
        prepare: Option<
            unsafe extern "C" fn(*mut c_void, *const Tensor, u32, Slice, *mut Handle, *mut Error) -> Status,
        >,
        release: Option<unsafe extern "C" fn(*mut c_void, Handle)>,
        activation_bytes: Option<unsafe extern "C" fn(*mut c_void, u64, u64) -> u64>,
        kv_create: Option<unsafe extern "C" fn(*mut c_void, *const KvShape, *mut Handle, *mut Error) -> Status>,
        kv_destroy: Option<unsafe extern "C" fn(*mut c_void, Handle)>,
        kv_truncate: Option<unsafe extern "C" fn(*mut c_void, Handle, u32, *mut Error) -> Status>,
        kv_export: Option<
            unsafe extern "C" fn(*mut c_void, Handle, u32, u32, *mut f32, *mut f32, *mut i32, *mut Error) -> Status,
        >,
        kv_import: Option<
            unsafe extern "C" fn(
                *mut c_void, Handle, u32, u32, *const f32, *const f32, *const i32, *mut Error,
            ) -> Status,
        >,
        worker_create: Option<unsafe extern "C" fn(*mut c_void, u32, *mut Handle, *mut Error) -> Status>,
        worker_destroy: Option<unsafe extern "C" fn(*mut c_void, Handle)>,
        plan: Option<unsafe extern "C" fn(*mut c_void, *const Op, u32, *mut Error) -> Status>,
        execute: Option<
            unsafe extern "C" fn(*mut c_void, *const Op, u32, Handle, u32, u32, *mut Error) -> Status,
        >,
        submit: Option<unsafe extern "C" fn(*mut c_void, *const Op, u32, *mut Error) -> Status>,
        fence: Option<unsafe extern "C" fn(*mut c_void, *mut Error) -> Status>,
        variant: Option<unsafe extern "C" fn(u32, *mut Str, *mut Error) -> Status>,
        prepare_begin: Option<
            unsafe extern "C" fn(*mut c_void, *const Tensor, u32, Slice, *mut Handle, *mut Error) -> Status,
        >,
        prepare_rows: Option<
            unsafe extern "C" fn(*mut c_void, Handle, *const Tensor, u64, u64, *mut Error) -> Status,
        >,
        numerics_of: Option<unsafe extern "C" fn(*mut c_void) -> Str>,
    }
}

/// The union `as` of a plumb_op; `kind` tells which member holds.
#[repr(C)]
#[derive(Clone, Copy)]
pub union OpContent {
    pub embed: OpEmbed,
    pub norm: OpNorm,
    pub quantize: OpQuantize,
    pub matmul: OpMatmul,
    pub rope: OpRope,
    pub kv_append: OpKvAppend,
    pub attend: OpAttend,
    pub elementwise: OpElementwise,
    pub argmax: OpArgmax,
    pub reserved: [u64; 22],
}

/// Where part p of n_parts begins in n items, without overflow: its items are part_begin(p) .. part_begin(p + 1).
pub fn part_begin(n: usize, p: u32, n_parts: u32) -> usize {
    let (p, n_parts) = (p as usize, n_parts as usize);
    n / n_parts * p + n % n_parts * p / n_parts
}

/// The body of `execute`: calls `run` with each record, until one fails; the error then names that op.
///
/// # Safety
/// `ops` is what a host gives: n_ops records, ops[0].struct_bytes apart.
pub unsafe fn for_each_op(
    ops: *const Op, n_ops: u32, error: *mut Error, mut run: impl FnMut(&Op) -> Outcome<()>,
) -> Status {
    if ops.is_null() && n_ops != 0 {
        return guarded(error, || fail(abi::INVALID_ARGUMENT, "ops is null"));
    }
    for i in 0..n_ops as usize {
        let stride = (*ops).struct_bytes as usize;
        let op = ops.cast::<u8>().add(i * stride).cast::<Op>();
        let status = guarded(error, || {
            if ((*op).struct_bytes as usize) < Op::end_of("content") || (*op).n_rows == 0 {
                return fail(abi::INVALID_ARGUMENT, format!("op record {i} is too short, or has no rows"));
            }
            run(&*op)
        });
        if status != abi::OK {
            if let Some(error) = error.as_mut() {
                error.op_id = (*op).id;
            }
            return status;
        }
    }
    abi::OK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(id: u32) -> Op {
        Op { struct_bytes: size_of::<Op>() as u32, kind: OP_MATMUL, id, n_rows: 1, ..Op::zeroed() }
    }

    #[test]
    fn ops_are_run_in_order_until_one_fails() {
        let ops = [op(5), op(6), op(7)];
        let mut error = Error { struct_bytes: size_of::<Error>() as u32, op_id: u32::MAX, ..Error::zeroed() };
        let mut seen = Vec::new();
        let status = unsafe {
            for_each_op(ops.as_ptr(), 3, &mut error, |op| {
                seen.push(op.id);
                if op.id == 6 { fail(abi::NUMERIC, "six") } else { Ok(()) }
            })
        };
        assert_eq!((status, error.op_id, seen), (abi::NUMERIC, 6, vec![5, 6]));
    }

    #[test]
    fn records_that_are_short_or_missing_are_refused() {
        let short = Op { struct_bytes: 16, ..op(1) };
        let refused = |ops| unsafe { for_each_op(ops, 1, std::ptr::null_mut(), |_| panic!("was run")) };
        assert_eq!(refused(&raw const short), abi::INVALID_ARGUMENT);
        assert_eq!(refused(std::ptr::null()), abi::INVALID_ARGUMENT);
        let empty = Op { n_rows: 0, ..op(1) };
        assert_eq!(refused(&raw const empty), abi::INVALID_ARGUMENT);
    }

    #[test]
    fn parts_cover_all_items_once() {
        for (n, n_parts) in [(0, 3), (1, 3), (10, 3), (7, 7), (usize::MAX, 4)] {
            assert_eq!(part_begin(n, 0, n_parts), 0);
            assert_eq!(part_begin(n, n_parts, n_parts), n);
            for p in 0..n_parts {
                assert!(part_begin(n, p, n_parts) <= part_begin(n, p + 1, n_parts));
            }
        }
    }
}
