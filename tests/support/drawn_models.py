"""Small packages of weights for tests: real files in the real layout, numbers drawn by chance."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from superpac.features.models import MODELS


def as_safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    """Write tensors as the format's definition says."""
    header, body = {}, b""
    for name, values in tensors.items():
        content = np.ascontiguousarray(values, dtype="<f4").tobytes()
        place = [len(body), len(body) + len(content)]
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": place}
        body += content
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def install(monkeypatch, folder: Path, name: str, files: dict[str, bytes]) -> None:
    """Put a package with these files where Python finds it, and make it the model of a name."""
    package = f"drawn_{name}_{sha256(str(folder).encode()).hexdigest()[:8]}"
    for path, content in files.items():
        target = folder / package / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (folder / package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(folder))
    hashes = {path: sha256(content).hexdigest() for path, content in files.items()}
    monkeypatch.setitem(MODELS, name, replace(MODELS[name], module=package, files=hashes))
