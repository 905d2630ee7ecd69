//! Ops as the host sends them: checked, then cut into parts.

use crate::matmul::{self, Block};
use crate::state::State;
use plumb::abi;
use plumb::kernels::{part_begin, Op, OpMatmul, OpQuantize, OpQuery, ACT_Q8, OP_MATMUL, OP_QUANTIZE, Q8_0, QK};
use plumb::{fail, Outcome};

pub fn supports(query: &OpQuery) -> Outcome<()> {
    match query.kind {
        OP_MATMUL if query.weight_format != Q8_0 || query.in_format != ACT_Q8 => {
            fail(abi::UNSUPPORTED, "matmul: expected Q8_0 weights and quantised activations")
        }
        OP_MATMUL | OP_QUANTIZE if query.n_in == 0 || query.n_in % QK as u64 != 0 => {
            fail(abi::UNSUPPORTED, format!("width {}: expected a multiple of 32", query.n_in))
        }
        OP_MATMUL | OP_QUANTIZE => Ok(()),
        kind => fail(abi::UNSUPPORTED, format!("op kind {kind}: only matmul and quantize are here")),
    }
}

pub fn activation_bytes(n_rows: u64, width: u64) -> u64 {
    if width % QK as u64 != 0 {
        return 0;
    }
    n_rows.checked_mul(width / QK as u64).and_then(|n| n.checked_mul(size_of::<Block>() as u64)).unwrap_or(0)
}

/// # Safety
/// The op's buffers are used by nobody else, as a host sees to.
pub unsafe fn run(state: &State, op: &Op, part: u32, n_parts: u32) -> Outcome<()> {
    let n_rows = op.n_rows as usize;
    match op.kind {
        OP_MATMUL => run_matmul(state, &op.content.matmul, n_rows, part, n_parts),
        OP_QUANTIZE => run_quantize(state, &op.content.quantize, n_rows, part, n_parts),
        kind => fail(abi::UNSUPPORTED, format!("op kind {kind}: only matmul and quantize are here")),
    }
}

unsafe fn run_matmul(state: &State, op: &OpMatmul, n_rows: usize, part: u32, n_parts: u32) -> Outcome<()> {
    let (n_in, n_out) = (op.n_in as usize, op.n_out as usize);
    if op.in_format != ACT_Q8 {
        return fail(abi::UNSUPPORTED, "matmul: expected quantised activations");
    }
    let weight = state.weight("weight", op.weight, true, n_out, n_in)?;
    let weight = state.elements::<Block>("weight", weight.place, n_out.checked_mul(n_in / QK))?;
    let bias = match op.bias {
        0 => None,
        handle => {
            let bias = state.weight("bias", handle, false, 1, n_out)?;
            let values = state.elements::<f32>("bias", bias.place, Some(n_out))?;
            Some(std::slice::from_raw_parts(values, n_out))
        }
    };
    let input = state.elements::<Block>("in", op.input, n_rows.checked_mul(n_in / QK))?;
    let out = state.elements::<f32>("out", op.out, n_rows.checked_mul(n_out))?;
    let product = matmul::Product {
        weight: std::slice::from_raw_parts(weight, n_out * (n_in / QK)),
        input: std::slice::from_raw_parts(input, n_rows * (n_in / QK)),
        bias,
        n_out,
    };
    for n in part_begin(n_out, part, n_parts)..part_begin(n_out, part + 1, n_parts) {
        // Other parts write other elements meanwhile: so no slice of the whole output.
        product.one_output(n, |row, value| out.add(row * n_out + n).write(value));
    }
    Ok(())
}

unsafe fn run_quantize(state: &State, op: &OpQuantize, n_rows: usize, part: u32, n_parts: u32) -> Outcome<()> {
    let width = op.width as usize;
    if width % QK != 0 {
        return fail(abi::INVALID_ARGUMENT, format!("quantize: width {width}, expected a multiple of 32"));
    }
    let n_blocks = n_rows.checked_mul(width / QK);
    let input = state.elements::<[f32; QK]>("in", op.input, n_blocks)?;
    let out = state.elements::<Block>("out", op.out, n_blocks)?;
    let n_blocks = n_rows * (width / QK);
    for b in part_begin(n_blocks, part, n_parts)..part_begin(n_blocks, part + 1, n_parts) {
        match matmul::quantize(&*input.add(b)) {
            Some(block) => out.add(b).write(block),
            None => return fail(abi::NUMERIC, format!("quantize: block {b}: a value is NaN or infinite")),
        }
    }
    Ok(())
}
