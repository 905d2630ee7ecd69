//! What an instance owns: buffers, weights and workers behind handles.

use plumb::abi;
use plumb::kernels::{Handle, Slice};
use plumb::{fail, Outcome};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[repr(C, align(64))]
struct Line([u8; 64]);

/// Memory that the host gives out in slices; it sees to it that nobody writes where another reads.
pub struct Buffer {
    lines: *mut [Line],
    n_bytes: u64,
}
// SAFETY: the host orders all accesses, with barriers between dependent ops.
unsafe impl Send for Buffer {}
unsafe impl Sync for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it came from Box::into_raw.
        drop(unsafe { Box::from_raw(self.lines) });
    }
}

/// A matrix of blocks [n_out, n_in / 32] or a vector f32[n_in], inside a buffer.
#[derive(Clone, Copy)]
pub struct Weight {
    pub is_matrix: bool,
    pub n_out: usize,
    pub n_in: usize,
    pub place: Slice,
}

pub enum Object {
    Buffer(Buffer),
    Weight(Weight),
    Worker,
}

impl Object {
    pub fn buffer(n_bytes: u64) -> Outcome<Object> {
        let mut lines = Vec::new();
        let n_lines = usize::try_from(n_bytes / 64 + 1).unwrap_or(usize::MAX);
        if lines.try_reserve_exact(n_lines).is_err() {
            return fail(abi::INTERNAL, format!("alloc: no memory for {n_bytes} bytes"));
        }
        lines.resize_with(n_lines, || Line([0; 64]));
        Ok(Object::Buffer(Buffer { lines: Box::into_raw(lines.into_boxed_slice()), n_bytes }))
    }
}

struct Objects {
    by_handle: HashMap<Handle, Object>,
    last: Handle,
}

pub struct State {
    pub n_workers_max: u32,
    objects: RwLock<Objects>,
}

impl State {
    pub fn new(n_workers_max: u32) -> State {
        State { n_workers_max, objects: RwLock::new(Objects { by_handle: HashMap::new(), last: 0 }) }
    }

    pub fn add(&self, object: Object) -> Handle {
        let mut objects = self.write();
        objects.last += 1;
        let handle = objects.last;
        objects.by_handle.insert(handle, object);
        handle
    }

    pub fn remove(&self, handle: Handle) {
        self.write().by_handle.remove(&handle);
    }

    pub fn has_worker(&self, handle: Handle) -> bool {
        matches!(self.read().by_handle.get(&handle), Some(Object::Worker))
    }

    pub fn weight(&self, what: &str, handle: Handle, is_matrix: bool, n_out: usize, n_in: usize) -> Outcome<Weight> {
        match self.read().by_handle.get(&handle) {
            Some(Object::Weight(weight)) if (weight.is_matrix, weight.n_out, weight.n_in) == (is_matrix, n_out, n_in) => {
                Ok(*weight)
            }
            _ => fail(abi::INVALID_ARGUMENT, format!("{what}: expected a weight of shape [{n_out}, {n_in}]")),
        }
    }

    /// [slice, slice + n_bytes) as memory, inside a live buffer.
    pub fn memory(&self, slice: Slice, n_bytes: u64) -> Outcome<*mut u8> {
        match self.read().by_handle.get(&slice.buffer) {
            Some(Object::Buffer(buffer))
                if slice.offset_bytes <= buffer.n_bytes && n_bytes <= buffer.n_bytes - slice.offset_bytes =>
            {
                // SAFETY: inside the buffer, as was just checked.
                Ok(unsafe { buffer.lines.cast::<u8>().add(slice.offset_bytes as usize) })
            }
            _ => fail(
                abi::INVALID_ARGUMENT,
                format!("{n_bytes} bytes at offset {} of buffer {} leave it", slice.offset_bytes, slice.buffer),
            ),
        }
    }

    /// The slice as a pointer to n elements.
    pub fn elements<T>(&self, what: &str, slice: Slice, n: Option<usize>) -> Outcome<*mut T> {
        let n_bytes = n.and_then(|n| n.checked_mul(size_of::<T>())).filter(|n_bytes| *n_bytes > 0);
        let Some(n_bytes) = n_bytes else {
            return fail(abi::INVALID_ARGUMENT, format!("{what}: no such shape"));
        };
        let at = self.memory(slice, n_bytes as u64)?;
        if !at.cast::<T>().is_aligned() {
            return fail(abi::INVALID_ARGUMENT, format!("{what}: offset {} is not aligned", slice.offset_bytes));
        }
        Ok(at.cast())
    }

    fn read(&self) -> RwLockReadGuard<'_, Objects> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner)
    }
    fn write(&self) -> RwLockWriteGuard<'_, Objects> {
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }
}
