//! The two loops that cost time. Class canonical-1: the bits are those that this order of operations gives.

use plumb::kernels::QK;

/// 32 values: scale * code. Prepared weights and quantised activations both lie so, row after row.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Block {
    pub scale: f32,
    pub codes: [i8; QK],
}

/// out[t, n] = sum over k of input[t, k] * weight[n, k], and bias[n].
pub struct Product<'a> {
    pub weight: &'a [Block], // [n_out, n_in / 32]
    pub input: &'a [Block],  // [n_rows, n_in / 32]
    pub bias: Option<&'a [f32]>,
    pub n_out: usize,
}

impl Product<'_> {
    /// Output n of every row.
    pub fn one_output(&self, n: usize, mut put: impl FnMut(usize, f32)) {
        let n_blocks = self.weight.len() / self.n_out;
        let weight = &self.weight[n * n_blocks..(n + 1) * n_blocks];
        for (row, input) in self.input.chunks_exact(n_blocks).enumerate() {
            let mut sum = 0.0;
            for (w, x) in weight.iter().zip(input) {
                sum += (w.scale * x.scale) * dot(&w.codes, &x.codes) as f32;
            }
            put(row, self.bias.map_or(sum, |bias| sum + bias[n]));
        }
    }
}

/// Exact in any order: at most 32 * 127 * 128.
fn dot(a: &[i8; QK], b: &[i8; QK]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// One block of activations; nothing if a value is NaN or infinite.
pub fn quantize(values: &[f32; QK]) -> Option<Block> {
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let largest = values.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
    let mut block = Block { scale: 0.0, codes: [0; QK] };
    if largest >= 2f32.powi(-100) {
        let inverse = 127.0 / largest;
        block.scale = largest / 127.0;
        block.codes = values.map(|value| (value * inverse).round_ties_even() as i8);
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_near_the_exact_one() {
        let values = |start: i32| std::array::from_fn(|i| ((start + 7 * i as i32) % 13) as f32 - 6.0);
        let (weight, input) = (values(1), values(4));
        let exact: f64 = weight.iter().zip(&input).map(|(w, x): (&f32, &f32)| f64::from(*w) * f64::from(*x)).sum();
        let blocks = [quantize(&weight).unwrap(), quantize(&input).unwrap()];
        let product = Product { weight: &blocks[..1], input: &blocks[1..], bias: Some(&[100.0]), n_out: 1 };
        // Each code is off by at most half a step, 6 / 127 / 2.
        let bound = 32.0 * 2.0 * 6.0 * (6.0 / 127.0 / 2.0);
        product.one_output(0, |row, value| {
            assert_eq!(row, 0);
            assert!((f64::from(value) - 100.0 - exact).abs() <= bound, "{value} for {exact} + 100");
        });
    }

    #[test]
    fn what_is_not_finite_is_told() {
        let mut values = [1.0; QK];
        values[31] = f32::NAN;
        assert!(quantize(&values).is_none());
        assert_eq!(quantize(&[0.0; QK]).unwrap().scale, 0.0);
    }
}
