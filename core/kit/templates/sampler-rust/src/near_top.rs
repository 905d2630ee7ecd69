//! The stage near_top.

use plumb::abi;
use plumb::{fail, Outcome};

pub const PARAMETERS: &str = r#"{"type": "object", "required": ["margin"], "additionalProperties": false,
 "properties": {"margin": {"type": "number", "minimum": 0}}}"#;

/// Keeps the candidates whose logit is at most `margin` below the largest one.
pub struct NearTop {
    margin: f32,
}

impl NearTop {
    /// Of {"margin": NUMBER}.
    pub fn from_json(json: &str) -> Outcome<NearTop> {
        let margin = json.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(|rest| {
            let (name, number) = rest.split_once(':')?;
            if name.trim() == "\"margin\"" { number.trim().parse::<f32>().ok() } else { None }
        });
        match margin {
            Some(margin) if margin.is_finite() && margin >= 0.0 => Ok(NearTop { margin }),
            _ => fail(abi::INVALID_CONFIG, format!("near_top: {json}: expected {{\"margin\": a number, 0 or more}}")),
        }
    }

    /// Moves those that stay to the front, in their order; how many they are.
    pub fn keep(&self, ids: &mut [i32], logits: &mut [f32]) -> Outcome<usize> {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if !largest.is_finite() || logits.iter().any(|logit| logit.is_nan()) {
            return fail(abi::NUMERIC, "no logit is finite, or one is infinite or no number");
        }
        let mut n = 0;
        for i in 0..logits.len() {
            if logits[i] >= largest - self.margin {
                (ids[n], logits[n]) = (ids[i], logits[i]);
                n += 1;
            }
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_near_the_top_stay_in_their_order() {
        let (mut ids, mut logits) = ([3, 5, 8, 9], [1.0, 4.0, 2.5, 3.0]);
        let n = NearTop { margin: 1.5 }.keep(&mut ids, &mut logits).unwrap();
        assert_eq!((&ids[..n], &logits[..n]), (&[5, 8, 9][..], &[4.0, 2.5, 3.0][..]));
        assert!(NearTop { margin: 1.0 }.keep(&mut [1, 2], &mut [0.0, f32::NAN]).is_err());
    }

    #[test]
    fn parameters_are_checked() {
        assert_eq!(NearTop::from_json(r#" {"margin": 2.5} "#).unwrap().margin, 2.5);
        for bad in ["", "{}", r#"{"margin": -1}"#, r#"{"margin": NaN}"#, r#"{"margin": 1, "x": 2}"#, r#"{"m": 1}"#] {
            assert!(NearTop::from_json(bad).is_err(), "{bad}");
        }
    }
}
