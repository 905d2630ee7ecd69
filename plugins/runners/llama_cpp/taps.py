"""Names for what llama.cpp computes, caught by its evaluation callback.

A tap is NAME:OP, as `Qcur-3:ROPE`, since llama.cpp gives one name to several tensors on their way; where even that
comes twice in a forward, the second is NAME:OP#2. A tensor without a name is called after the last one that has one:
`kqv_out-3+1:MUL_MAT` is the first behind kqv_out-3. OP is ROWS for those that only say how rows lie: the attention's
output is reshaped with flash attention and copied without. Only f32 tensors with a row for each id (or each row of
logits) are taps. Source: llama.cpp, ggml-backend.h, ggml_backend_sched_eval_callback.
"""

import ctypes
from contextlib import contextmanager
from pathlib import Path

F32 = 0
LAYOUT_OPS = ("RESHAPE", "CONT")


class TensorHead(ctypes.Structure):
    """The first members of ggml.h's ggml_tensor."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("ne", ctypes.c_int64 * 4),
        ("nb", ctypes.c_size_t * 4),
    ]


def _ggml(api):
    """The library of tensors, with the types of the functions used here."""
    folder = Path(api.__file__).parent / "lib"
    library = ctypes.CDLL(str(next(iter(sorted(folder.glob("*ggml-base*"))))))
    for name, result, arguments in (
        ("ggml_get_name", ctypes.c_char_p, [ctypes.c_void_p]),
        ("ggml_op_desc", ctypes.c_char_p, [ctypes.c_void_p]),
        ("ggml_nbytes", ctypes.c_size_t, [ctypes.c_void_p]),
        ("ggml_is_contiguous", ctypes.c_bool, [ctypes.c_void_p]),
        ("ggml_backend_tensor_get", None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Taps:
    """widths: the values of a row, by name; known once something ran inside discovering()."""

    def __init__(self, api):
        self.widths: dict[str, int] = {}
        self.callback = api.ggml_backend_sched_eval_callback(self._evaluated)
        self._ggml = _ggml(api)
        self._wanted: set[str] = set()
        self._caught: dict[str, bytearray] = {}
        self._n_rows = 0  # of the forward that discovers
        self._current = ""
        self.start_graph()

    def start_graph(self) -> None:
        """To be called before each llama_decode."""
        self._last_named = "start"
        self._n_unnamed = 0
        self._seen: dict[str, int] = {}

    @contextmanager
    def discovering(self, n_rows: int):
        """Inside, one forward of n_rows ids, the last with logits, shows what there is."""
        self._n_rows = n_rows
        try:
            yield
        finally:
            self._n_rows = 0

    @contextmanager
    def catching(self, names: list[str]):
        """Inside, forwards append to the dict that this gives."""
        self._wanted = set(names)
        self._caught = {name: bytearray() for name in names}
        try:
            yield self._caught
        finally:
            self._wanted = set()

    def _evaluated(self, tensor: int, is_question: bool, _) -> bool:
        if is_question:
            if not self._wanted and not self._n_rows:
                return False
            self._current = self._name(tensor)
            if self._n_rows:
                self._learn(tensor)
            return self._current in self._wanted
        data = ctypes.create_string_buffer(self._ggml.ggml_nbytes(tensor))
        self._ggml.ggml_backend_tensor_get(tensor, data, 0, len(data))
        self._caught[self._current] += data.raw
        return True

    def _name(self, tensor: int) -> str:
        name = self._ggml.ggml_get_name(tensor).decode()
        op = self._ggml.ggml_op_desc(tensor).decode()
        op = "ROWS" if op in LAYOUT_OPS else op
        if name.startswith("node_"):
            self._n_unnamed += 1
            name = f"{self._last_named}+{self._n_unnamed}"
        elif " " not in name:
            self._last_named, self._n_unnamed = name, 0
        name = f"{name}:{op}"
        n = self._seen[name] = self._seen.get(name, 0) + 1
        return name if n == 1 else f"{name}#{n}"

    def _learn(self, tensor: int) -> None:
        head = TensorHead.from_address(tensor)
        ne = list(head.ne)
        rows_last = (ne[1] in (1, self._n_rows) and ne[2] == 1) or ne[2] == self._n_rows
        is_view = " " in self._current or ":ROWS" in self._current and not self._current.startswith("kqv_out")
        if head.type == F32 and rows_last and ne[3] == 1 and not is_view and self._ggml.ggml_is_contiguous(tensor):
            self.widths[self._current] = ne[0] * (ne[1] if ne[2] == self._n_rows else 1)
