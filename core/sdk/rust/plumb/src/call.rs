//! What every call across the line does: read the arguments, let no panic out, leave a message.

use crate::abi::{self, Abi, Error, Status, Str};
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

/// A status that is not OK, with its message: seen, expected, where.
#[derive(Debug)]
pub struct Failure {
    pub status: Status,
    pub message: String,
}
pub type Outcome<T> = Result<T, Failure>;

/// An Outcome that failed.
pub fn fail<T>(status: Status, message: impl Into<String>) -> Outcome<T> {
    Err(Failure { status, message: message.into() })
}

/// The bytes of a view, which may be null where it is empty.
///
/// # Safety
/// The view is null or valid for as long as the result is used.
pub unsafe fn view<'a>(view: Str, what: &str) -> Outcome<&'a [u8]> {
    if view.bytes == 0 {
        return Ok(&[]);
    }
    if view.data.is_null() || view.bytes > isize::MAX as u64 {
        return fail(abi::INVALID_ARGUMENT, format!("{what}: {} bytes at {:?}", view.bytes, view.data));
    }
    Ok(std::slice::from_raw_parts(view.data, view.bytes as usize))
}

/// A view that must be UTF-8.
///
/// # Safety
/// As for `view`.
pub unsafe fn text<'a>(text: Str, what: &str) -> Outcome<&'a str> {
    std::str::from_utf8(view(text, what)?).or_else(|error| {
        fail(abi::INVALID_ARGUMENT, format!("{what}: no UTF-8 at byte {}", error.valid_up_to()))
    })
}

/// A copy of a struct that another version of the interface may have written: fields that it lacks are zero. It must
/// have all up to `last_needed`.
///
/// # Safety
/// `from` is null or points to a struct as long as its first field says.
pub unsafe fn read<T: Abi>(from: *const T, last_needed: &str) -> Outcome<T> {
    let n_bytes = size_of_struct(from, last_needed)?;
    let mut copy = std::mem::zeroed::<T>();
    std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut copy).cast::<u8>(), n_bytes);
    Ok(copy)
}

/// Writes as much of the value as the caller's struct has room for, and leaves the caller's struct_bytes.
///
/// # Safety
/// As for `read`.
pub unsafe fn write<T: Abi>(to: *mut T, value: &T, last_needed: &str) -> Outcome<()> {
    let n_bytes = size_of_struct(to, last_needed)?;
    let at = size_of::<u32>();
    let source = (&raw const *value).cast::<u8>().add(at);
    std::ptr::copy_nonoverlapping(source, to.cast::<u8>().add(at), n_bytes - at);
    Ok(())
}

unsafe fn size_of_struct<T: Abi>(place: *const T, last_needed: &str) -> Outcome<usize> {
    if place.is_null() {
        return fail(abi::INVALID_ARGUMENT, format!("{} is null", T::NAME));
    }
    let n_bytes = *place.cast::<u32>() as usize;
    let needed = T::end_of(last_needed);
    if n_bytes < needed {
        return fail(abi::INVALID_ARGUMENT, format!("{} has {n_bytes} bytes, {needed} expected", T::NAME));
    }
    Ok(n_bytes.min(size_of::<T>()))
}

/// The object behind a `self`.
///
/// # Safety
/// `object` is null or a `T` that outlives the result.
pub unsafe fn instance<'a, T>(object: *mut c_void) -> Outcome<&'a T> {
    object.cast::<T>().as_ref().map_or_else(|| fail(abi::INVALID_ARGUMENT, "self is null"), Ok)
}

/// Runs a call's body. A panic becomes INTERNAL; nothing is printed.
///
/// # Safety
/// `error` is null or a plumb_error.
pub unsafe fn guarded(error: *mut Error, body: impl FnOnce() -> Outcome<()>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(|| {
        keep_panics_quiet();
        body()
    })) {
        Ok(Ok(())) => return abi::OK,
        Ok(Err(failure)) => failure,
        Err(_) => Failure { status: abi::INTERNAL, message: LAST_PANIC.take() },
    };
    explain(error, &failure.message);
    failure.status
}

pub(crate) unsafe fn explain(error: *mut Error, message: &str) {
    let Some(error) = error.as_mut() else { return };
    if error.message.is_null() {
        return;
    }
    let mut n_bytes = message.len().min(error.capacity_bytes as usize);
    while !message.is_char_boundary(n_bytes) {
        n_bytes -= 1;
    }
    std::ptr::copy_nonoverlapping(message.as_ptr(), error.message, n_bytes);
    error.message_bytes = n_bytes as u32;
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A panic's message goes to the call that catches it, not to stderr. The hook is that of this library's own copy of
/// the standard library.
fn keep_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            // One line, as every message of the interface.
            LAST_PANIC.set(panic.to_string().replace('\n', " "));
        }))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_error(capacity: u32, run: impl FnOnce(*mut Error) -> Status) -> (Status, String) {
        let mut room = vec![0u8; capacity as usize];
        let mut error = Error {
            struct_bytes: size_of::<Error>() as u32,
            capacity_bytes: capacity,
            message: room.as_mut_ptr(),
            message_bytes: 0,
            op_id: u32::MAX,
        };
        let status = run(&mut error);
        room.truncate(error.message_bytes as usize);
        (status, String::from_utf8(room).unwrap())
    }

    #[test]
    fn a_panic_becomes_internal_with_its_message() {
        let (status, message) = with_error(200, |error| unsafe { guarded(error, || panic!("seven\neight")) });
        assert_eq!(status, abi::INTERNAL);
        assert!(message.contains("seven eight") && message.contains("call.rs"), "{message}");
    }

    #[test]
    fn a_message_is_cut_between_characters_and_may_have_no_place() {
        let long = || fail(abi::CORRUPT, "aé");
        assert_eq!(with_error(2, |error| unsafe { guarded(error, long) }), (abi::CORRUPT, "a".into()));
        assert_eq!(unsafe { guarded(std::ptr::null_mut(), long) }, abi::CORRUPT);
    }

    #[test]
    fn a_short_struct_reads_as_zeros_behind_its_end() {
        let mut request = abi::RenderRequest::zeroed();
        request.fuel = 7;
        request.now_unix_s = 8;
        request.struct_bytes = abi::RenderRequest::end_of("now_unix_s") as u32;
        let copy = unsafe { read(&request, "now_unix_s") }.unwrap();
        assert_eq!((copy.now_unix_s, copy.fuel), (8, 0));
        assert!(unsafe { read(&request, "fuel") }.is_err());
        assert!(unsafe { read::<abi::RenderRequest>(std::ptr::null(), "fuel") }.is_err());
        let value = abi::RenderRequest { fuel: 9, now_unix_s: 10, struct_bytes: 1, ..abi::RenderRequest::zeroed() };
        unsafe { write(&mut request, &value, "now_unix_s") }.unwrap();
        assert_eq!((request.now_unix_s, request.fuel), (10, 7));
        assert_ne!(request.struct_bytes, 1);
    }

    #[test]
    fn views_are_checked() {
        let null = |bytes| Str { data: std::ptr::null(), bytes };
        assert!(unsafe { view(null(0), "it") }.unwrap().is_empty());
        assert!(unsafe { view(null(1), "it") }.is_err());
        assert!(unsafe { text(Str { data: b"\xff".as_ptr(), bytes: 1 }, "it") }.is_err());
    }
}
