//! The filter `tojson` as transformers defines it: Python's json.dumps without ASCII escapes.
//! Source: transformers, utils/chat_template_utils.py; Python, json/encoder.py.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Value};

const DEEPEST: usize = 200;

struct Style {
    is_ascii: bool,
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
    sorts_keys: bool,
}

pub fn to_json(value: &Value, options: Kwargs) -> Result<String, Error> {
    let style = style_of(&options)?;
    options.assert_all_used()?;
    let mut out = String::new();
    write(value, &style, 0, &mut out)?;
    Ok(out)
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("tojson: {}", what.into()))
}

fn style_of(options: &Kwargs) -> Result<Style, Error> {
    let indent = match options.get::<Option<Value>>("indent")? {
        None => None,
        Some(value) if value.is_none() => None,
        Some(value) => Some(match value.as_str() {
            Some(text) => text.to_string(),
            None => " ".repeat(usize::try_from(value)?.min(DEEPEST)),
        }),
    };
    let separators = match options.get::<Option<Value>>("separators")? {
        Some(value) if !value.is_none() => Some((value.get_item_by_index(0)?, value.get_item_by_index(1)?)),
        _ => None,
    };
    let item_default = if indent.is_some() { "," } else { ", " };
    let (item_separator, key_separator) =
        separators.map_or((item_default.into(), ": ".into()), |(item, key)| (item.to_string(), key.to_string()));
    let is_on = |key: &str| Ok::<bool, Error>(options.get::<Option<Value>>(key)?.is_some_and(|value| value.is_true()));
    Ok(Style { is_ascii: is_on("ensure_ascii")?, indent, item_separator, key_separator, sorts_keys: is_on("sort_keys")? })
}

fn write(value: &Value, style: &Style, depth: usize, out: &mut String) -> Result<(), Error> {
    if depth > DEEPEST {
        return Err(wrong(format!("more than {DEEPEST} levels")));
    }
    match value.kind() {
        ValueKind::None => out.push_str("null"),
        ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
        ValueKind::Number if value.is_integer() => out.push_str(&value.to_string()),
        ValueKind::Number => out.push_str(&number_text(f64::try_from(value.clone())?)),
        ValueKind::String => write_string(value.as_str().unwrap_or_default(), style.is_ascii, out),
        ValueKind::Seq | ValueKind::Iterable => {
            write_items(value.try_iter()?, ('[', ']'), style, depth, out, |item, out| write(&item, style, depth + 1, out))?;
        }
        ValueKind::Map => {
            let mut keys: Vec<Value> = value.try_iter()?.collect();
            if style.sorts_keys {
                keys.sort();
            }
            write_items(keys.into_iter(), ('{', '}'), style, depth, out, |key, out| {
                write_string(&key_text(&key)?, style.is_ascii, out);
                out.push_str(&style.key_separator);
                write(&value.get_item(&key)?, style, depth + 1, out)
            })?;
        }
        other => return Err(wrong(format!("a value of type {other} is not JSON"))),
    }
    Ok(())
}

fn write_items(
    items: impl Iterator<Item = Value>, brackets: (char, char), style: &Style, depth: usize, out: &mut String,
    write_one: impl Fn(Value, &mut String) -> Result<(), Error>,
) -> Result<(), Error> {
    let break_line = |depth: usize, out: &mut String| {
        if let Some(indent) = &style.indent {
            out.push('\n');
            out.push_str(&indent.repeat(depth));
        }
    };
    out.push(brackets.0);
    let mut is_empty = true;
    for item in items {
        if !is_empty {
            out.push_str(&style.item_separator);
        }
        is_empty = false;
        break_line(depth + 1, out);
        write_one(item, out)?;
    }
    if !is_empty {
        break_line(depth, out);
    }
    out.push(brackets.1);
    Ok(())
}

fn key_text(key: &Value) -> Result<String, Error> {
    match key.kind() {
        ValueKind::String => Ok(key.as_str().unwrap_or_default().to_string()),
        ValueKind::None => Ok("null".into()),
        ValueKind::Bool => Ok(if key.is_true() { "true" } else { "false" }.into()),
        ValueKind::Number if key.is_integer() => Ok(key.to_string()),
        ValueKind::Number => Ok(number_text(f64::try_from(key.clone())?)),
        other => Err(wrong(format!("a key of type {other}"))),
    }
}

/// As Python's repr: the shortest digits, with an exponent below 1e-4 and from 1e16 on.
fn number_text(number: f64) -> String {
    if !number.is_finite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return if number.is_nan() { "NaN".into() } else { format!("{sign}Infinity") };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if number == 0.0 || (-4..16).contains(&exponent) {
        return format!("{number:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

fn write_string(text: &str, is_ascii: bool, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(character),
            other if is_ascii || other < ' ' => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
