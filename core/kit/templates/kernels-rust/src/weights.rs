//! Tensors of a file into this backend's layout: Q8_0 matrices, and f32 vectors for biases.

use crate::matmul::Block;
use crate::state::{Object, State, Weight};
use plumb::abi;
use plumb::kernels::{Slice, Tensor, F32, Q8_0, QK, USE_MATMUL, USE_VECTOR};
use plumb::{fail, Outcome};

/// Of Q8_0: a half-precision scale and 32 codes.
const FILE_BLOCK_BYTES: usize = 2 + QK;

/// What a tensor becomes.
pub struct Plan {
    is_matrix: bool,
    n_out: usize,
    n_in: usize,
}

impl Plan {
    fn n_blocks(&self) -> usize {
        self.n_out * (self.n_in / QK)
    }
    pub fn n_bytes(&self) -> u64 {
        (if self.is_matrix { self.n_blocks() * size_of::<Block>() } else { self.n_in * size_of::<f32>() }) as u64
    }
}

/// Sizes are those of data that is there, so that no product of them overflows.
pub fn plan(tensor: &Tensor, uses: u32) -> Outcome<Plan> {
    let n_bytes = tensor.data.bytes as usize;
    let [first, second, ..] = tensor.dims.map(|dim| dim as usize);
    let (plan, expected) = match (uses, tensor.format, tensor.rank) {
        (USE_VECTOR, F32, 1) => (Plan { is_matrix: false, n_out: 1, n_in: first }, first.checked_mul(size_of::<f32>())),
        (USE_MATMUL, Q8_0, 2) if second % QK == 0 => (
            Plan { is_matrix: true, n_out: first, n_in: second },
            first.checked_mul(second / QK).and_then(|n_blocks| n_blocks.checked_mul(FILE_BLOCK_BYTES)),
        ),
        (uses, format, rank) => {
            let seen = format!("format {format}, rank {rank}, uses {uses}");
            return fail(abi::UNSUPPORTED, format!("prepare: {seen}; expected a Q8_0 matrix for matmul, or an f32 vector"));
        }
    };
    if tensor.data.data.is_null() || n_bytes == 0 || expected != Some(n_bytes) {
        return fail(abi::INVALID_ARGUMENT, format!("prepare: {n_bytes} bytes are not those of the tensor's shape"));
    }
    Ok(plan)
}

/// # Safety
/// The tensor's data is there.
pub unsafe fn prepare(state: &State, tensor: &Tensor, uses: u32, destination: Slice) -> Outcome<Object> {
    let plan = plan(tensor, uses)?;
    let source = std::slice::from_raw_parts(tensor.data.data, tensor.data.bytes as usize);
    if plan.is_matrix {
        let to = state.elements::<Block>("destination", destination, Some(plan.n_blocks()))?;
        let to = std::slice::from_raw_parts_mut(to, plan.n_blocks());
        for (i, (block, from)) in to.iter_mut().zip(source.chunks_exact(FILE_BLOCK_BYTES)).enumerate() {
            block.scale = half(u16::from_le_bytes([from[0], from[1]]));
            if !block.scale.is_finite() {
                return fail(abi::CORRUPT, format!("prepare: the scale of block {i} is {}", block.scale));
            }
            for (code, byte) in block.codes.iter_mut().zip(&from[2..]) {
                *code = *byte as i8;
            }
        }
    } else {
        let to = state.elements::<f32>("destination", destination, Some(plan.n_in))?;
        std::ptr::copy_nonoverlapping(source.as_ptr(), to.cast::<u8>(), source.len());
    }
    Ok(Object::Weight(Weight { is_matrix: plan.is_matrix, n_out: plan.n_out, n_in: plan.n_in, place: destination }))
}

/// The f32 of a binary16 bit pattern.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let magnitude = match exponent {
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        0 => fraction * 2f32.powi(-24),
        _ => (fraction + 1024.0) * 2f32.powi(exponent - 25),
    };
    if bits & 0x8000 != 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn half_precision() {
        // IEEE 754, binary16: one, the largest, the smallest, -2.
        assert_eq!((half(0x3c00), half(0x7bff), half(1), half(0xc000)), (1.0, 65504.0, 2f32.powi(-24), -2.0));
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
