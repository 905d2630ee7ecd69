//! plumb.templates.minijinja: the Rust library `minijinja` behind plumb.template/1, set up as transformers sets up
//! jinja2. A second opinion beside plumb.templates.jinja; where it differs from jinja2, README.md says how to find.

mod engine;
mod json;

use engine::{Engine, Request};
use plumb::abi::{self, Error, Host, RenderRequest, Status, Str};
use plumb::{fail, guarded, instance, read, text, Outcome};
use std::ffi::c_void;

plumb::plugin! { id: "plumb.templates.minijinja", rank: -10, extension: extension }

static ENGINE: abi::Table<abi::TemplateEngine> = abi::Table(abi::TemplateEngine {
    struct_bytes: size_of::<abi::TemplateEngine>() as u32,
    reserved: 0,
    create: Some(create),
    destroy: Some(destroy),
    render: Some(render),
});

fn extension(id: &[u8]) -> *const c_void {
    if id == abi::EXT_TEMPLATE.as_bytes() { (&raw const ENGINE).cast() } else { std::ptr::null() }
}

unsafe extern "C" fn create(
    _host: *const Host, source: Str, options_json: Str, object: *mut *mut c_void, error: *mut Error,
) -> Status {
    guarded(error, || {
        if object.is_null() {
            return fail(abi::INVALID_ARGUMENT, "self is null");
        }
        let profile = engine::profile_of(text(options_json, "options_json")?)?;
        let Ok(source) = text(source, "template") else {
            return fail(abi::CORRUPT, "the template is no UTF-8");
        };
        *object = Box::into_raw(Box::new(Engine::compile(source, profile)?)).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy(object: *mut c_void) {
    guarded(std::ptr::null_mut(), || {
        if !object.is_null() {
            drop(Box::from_raw(object.cast::<Engine>()));
        }
        Ok(())
    });
}

unsafe extern "C" fn render(
    object: *mut c_void, request: *const RenderRequest, out: *mut u8, capacity: u64, n_bytes: *mut u64,
    error: *mut Error,
) -> Status {
    guarded(error, || {
        let engine = instance::<Engine>(object)?;
        let request = read(request, "fuel")?;
        if n_bytes.is_null() || (out.is_null() && capacity > 0) {
            return fail(abi::INVALID_ARGUMENT, "render: no place for the text");
        }
        let context_json = text(request.context_json, "context")?;
        let rendered = engine.render(&Request { context_json, now_unix_s: request.now_unix_s, fuel: request.fuel })?;
        *n_bytes = rendered.len() as u64;
        copy_out(&rendered, out, capacity)
    })
}

unsafe fn copy_out(rendered: &[u8], out: *mut u8, capacity: u64) -> Outcome<()> {
    if rendered.len() as u64 > capacity {
        return fail(abi::MORE_SPACE, format!("{} bytes, room for {capacity}", rendered.len()));
    }
    std::ptr::copy_nonoverlapping(rendered.as_ptr(), out, rendered.len());
    Ok(())
}
