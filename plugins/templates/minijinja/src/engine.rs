//! One compiled template.

use crate::json;
use chrono::DateTime;
use minijinja::value::merge_maps;
use minijinja::{AutoEscape, Environment, ErrorKind, State, UndefinedBehavior, Value};
use minijinja_contrib::pycompat::unknown_method_callback;
use plumb::{abi, fail, Failure, Outcome};
use std::fmt::Write as _;
use std::io;

const NAME: &str = "template";
/// In the library's steps; a conversation of 41 messages takes some ten thousand.
const DEFAULT_FUEL: u64 = 50_000_000;
const LONGEST_OUTPUT_BYTES: usize = 512 << 20;

pub struct Engine {
    environment: Environment<'static>,
}

pub struct Request<'a> {
    pub context_json: &'a str,
    pub now_unix_s: i64,
    /// 0: the engine's default.
    pub fuel: u64,
}

/// What `{"undefined": ...}` asks for. The library's Lenient is jinja2's default: one missing value may be printed,
/// looped over and asked for its truth; an attribute of it is an error.
pub fn profile_of(options_json: &str) -> Outcome<UndefinedBehavior> {
    let wrong = |what: &str| fail(abi::INVALID_CONFIG, format!("template options: {what}"));
    if options_json.is_empty() {
        return Ok(UndefinedBehavior::Strict);
    }
    let Ok(serde_json::Value::Object(options)) = serde_json::from_str(options_json) else {
        return wrong("a JSON object expected");
    };
    if let Some(key) = options.keys().find(|key| *key != "undefined") {
        return wrong(&format!("unknown key '{key}' seen, 'undefined' expected"));
    }
    match options.get("undefined").map(|wanted| wanted.as_str()) {
        None | Some(Some("strict")) => Ok(UndefinedBehavior::Strict),
        Some(Some("semi_strict")) => Ok(UndefinedBehavior::SemiStrict),
        Some(Some("hf")) => Ok(UndefinedBehavior::Lenient),
        _ => {
            let seen = &options["undefined"];
            wrong(&format!("undefined: {seen} seen, \"strict\", \"semi_strict\" or \"hf\" expected"))
        }
    }
}

impl Engine {
    pub fn compile(source: &str, undefined: UndefinedBehavior) -> Outcome<Engine> {
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(undefined);
        environment.set_unknown_method_callback(python_method);
        environment.set_fuel(Some(DEFAULT_FUEL));
        environment.add_filter("tojson", json::to_json);
        environment.add_function("raise_exception", raise_exception);
        let compiled = environment.add_template_owned(NAME, source.to_string());
        compiled.map_err(|error| Failure { status: abi::CORRUPT, message: describe(&error, source) })?;
        Ok(Engine { environment })
    }

    pub fn render(&self, request: &Request) -> Outcome<Vec<u8>> {
        if request.fuel == 0 {
            return render(&self.environment, request);
        }
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(request.fuel));
        render(&environment, request)
    }
}

fn render(environment: &Environment, request: &Request) -> Outcome<Vec<u8>> {
    let context: Value = serde_json::from_str(request.context_json)
        .or_else(|error| fail(abi::INVALID_ARGUMENT, format!("context: {error}")))?;
    if context.kind() != minijinja::value::ValueKind::Map {
        return fail(abi::INVALID_ARGUMENT, "context: a JSON object expected");
    }
    let now = request.now_unix_s;
    let clock = Value::from_function(move |format: &str| time_text(now, format));
    let variables = merge_maps([context, Value::from_iter([("strftime_now", clock)])]);
    let template = environment.get_template(NAME).or_else(|error| fail(abi::INTERNAL, error.to_string()))?;
    let mut out = Bounded(Vec::new());
    template.render_captured_to(variables, &mut out).map_err(|error| {
        let status = match error.kind() {
            ErrorKind::OutOfFuel | ErrorKind::WriteFailure => abi::CANCELLED,
            _ => abi::INVALID_ARGUMENT,
        };
        Failure { status, message: describe(&error, template.source()) }
    })?;
    Ok(out.0)
}

/// Output up to a limit.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST_OUTPUT_BYTES {
            return Err(io::Error::other(format!("more than {LONGEST_OUTPUT_BYTES} bytes rendered")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Python's methods as minijinja-contrib has them, but for a call that it never returns from.
fn python_method(state: &State, value: &Value, method: &str, arguments: &[Value]) -> Result<Value, minijinja::Error> {
    let counted = arguments.first().and_then(Value::as_str);
    if let ("count", Some(text), Some("")) = (method, value.as_str(), counted) {
        return Ok(Value::from(text.chars().count() + 1));
    }
    unknown_method_callback(state, value, method, arguments)
}

fn raise_exception(message: String) -> Result<Value, minijinja::Error> {
    Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
}

fn time_text(now_unix_s: i64, format: &str) -> Result<String, minijinja::Error> {
    let wrong = |what: &str| minijinja::Error::new(ErrorKind::InvalidOperation, format!("strftime_now: {what}"));
    let time = DateTime::from_timestamp(now_unix_s, 0).ok_or_else(|| wrong("a clock that has no calendar date"))?;
    let mut out = String::new();
    write!(out, "{}", time.format(format)).map_err(|_| wrong(&format!("unknown format '{format}'")))?;
    Ok(out)
}

/// "line 1, column 4: undefined value", on one line.
fn describe(error: &minijinja::Error, source: &str) -> String {
    let place = match (error.line(), error.range().and_then(|range| source.get(..range.start))) {
        (Some(line), Some(before)) => {
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("line {line}, column {column}: ")
        }
        (Some(line), None) => format!("line {line}: "),
        _ => String::new(),
    };
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_string);
    format!("{place}{detail}").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str, context_json: &str, undefined: UndefinedBehavior, fuel: u64) -> Result<String, String> {
        let shown = |failure: Failure| format!("{}: {}", failure.status, failure.message);
        let engine = Engine::compile(source, undefined).map_err(shown)?;
        let out = engine.render(&Request { context_json, now_unix_s: 1764458400, fuel }).map_err(shown)?;
        Ok(String::from_utf8(out).unwrap())
    }
    fn strict(source: &str) -> Result<String, String> {
        rendered(source, r#"{"b": [1.0, 1e16, 0.00001, 5], "a": {"z": "é\u0007<", "y": null}}"#, UndefinedBehavior::Strict, 0)
    }

    /// Oracle: Python's json.dumps and strftime.
    #[test]
    fn is_set_up_as_transformers_does() {
        let cases = [
            ("{{ a | tojson }}", r#"{"z": "é\u0007<", "y": null}"#),
            ("{{ b | tojson }}", "[1.0, 1e+16, 1e-05, 5]"),
            ("{{ a | tojson(indent=1, ensure_ascii=true, sort_keys=true) }}", "{\n \"y\": null,\n \"z\": \"\\u00e9\\u0007<\"\n}"),
            ("{{ [[], {}, '😀'] | tojson(indent=2) }}", "[\n  [],\n  {},\n  \"😀\"\n]"),
            ("{{ ['😀'] | tojson(ensure_ascii=true, separators=(',', ':')) }}", r#"["\ud83d\ude00"]"#),
            ("{{ strftime_now('%d %b %Y') }}", "29 Nov 2025"),
            ("  {% for x in b %}\n{% if x == 5 %}{% break %}{% endif %}\n{{ loop.index }}\n{% endfor %}\n", "1\n2\n3\n"),
            ("{{ '<' }}{{ ' a '.strip() }}{{ 'éa'.count('') }}{{ 'aba'.count('a') }}", "<a32"),
        ];
        for (source, expected) in cases {
            assert_eq!(strict(source), Ok(expected.to_string()), "{source}");
        }
    }

    #[test]
    fn errors_have_a_status_and_a_place() {
        let cases = [
            ("a\n{{ x }}", "1: line 2, column 4: undefined value"),
            ("{{ raise_exception('no\nway') }}", "1: line 1, column 4: no way"),
            ("{{ strftime_now('%!') }}", "1: line 1, column 4: strftime_now: unknown format '%!'"),
        ];
        for (source, expected) in cases {
            assert_eq!(strict(source), Err(expected.to_string()), "{source}");
        }
        assert!(strict("{% if %}").unwrap_err().starts_with("6: line 1, column "));
        assert_eq!(rendered("{{ x }}", "{}", UndefinedBehavior::Lenient, 0), Ok(String::new()));
        let endless = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}";
        let stopped = rendered(endless, "{}", UndefinedBehavior::Strict, 1000).unwrap_err();
        assert!(stopped.starts_with("9: line 1") && stopped.ends_with("engine ran out of fuel"), "{stopped}");
        for context in ["", "[]", "{", "1"] {
            assert!(rendered("", context, UndefinedBehavior::Strict, 0).unwrap_err().starts_with("1: context: "));
        }
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(rendered("", &deep, UndefinedBehavior::Strict, 0).is_err());
    }

    #[test]
    fn options_are_checked() {
        for wrong in ["[]", "{", r#"{"undefned": "hf"}"#, r#"{"undefined": 1}"#, r#"{"undefined": "lenient"}"#] {
            assert_eq!(profile_of(wrong).unwrap_err().status, abi::INVALID_CONFIG, "{wrong}");
        }
        assert_eq!(profile_of("{}").unwrap(), UndefinedBehavior::Strict);
        assert_eq!(profile_of(r#"{"undefined": "hf"}"#).unwrap(), UndefinedBehavior::Lenient);
    }
}
