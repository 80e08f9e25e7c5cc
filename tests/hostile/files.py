"""Models and tables that are no programs, made to be harmful to those who read them."""

from __future__ import annotations

import io
import json
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from tests.hostile.world import World

_MEGABYTE = 1 << 20
Make = Callable[[Path, World], Path]


def write_bomb(path: Path, name: str, gigabytes: int, others: dict[str, bytes]) -> None:
    """Write an archive with a member of zeros that unpacks to so many gigabytes.

    Its packed bytes are one piece over and over, so that nobody waits for it to be made.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(bytes(64 * _MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    data = piece * (16 * gigabytes) + packer.flush()
    size = min(gigabytes << 30, 0xFFFF_FFFE)
    with zipfile.ZipFile(path, "w") as archive:
        for other, content in others.items():
            archive.writestr(other, content)
        place, raw = archive.fp.tell(), name.encode()
        local = struct.pack(
            "<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 33, 0, len(data), size, len(raw), 0
        )
        archive.fp.write(local + raw + data)
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.CRC = 0
        entry.header_offset, entry.file_size, entry.compress_size = place, size, len(data)
        archive.filelist.append(entry)
        archive.NameToInfo[name] = entry
        archive.start_dir = archive.fp.tell()
        archive._didModify = True


def _dense(name: str, units: int, **more: object) -> dict[str, object]:
    return {"class_name": "Dense", "config": {"name": name, "units": units, **more}}


def _network(*layers: dict[str, object]) -> dict[str, object]:
    first = _dense("a", 1, batch_input_shape=[None, 3], activation="sigmoid")
    return {"class_name": "Sequential", "config": {"name": "s", "layers": [first, *layers]}}


def _lambda(world: World) -> dict[str, object]:
    code = f"open({str(world.canary / 'new')!r}, 'w')"
    return {
        "module": "keras.layers",
        "class_name": "Lambda",
        "config": {
            "name": "l",
            "function": {
                "class_name": "__lambda__",
                "config": {"code": code, "defaults": None, "closure": None},
            },
        },
    }


def _weights(file: h5py.File) -> None:
    group = file.create_group("layers/dense/vars")
    group["0"], group["1"] = np.ones((3, 1), "f4"), np.zeros(1, "f4")


def _weight_bytes() -> bytes:
    raw = io.BytesIO()
    with h5py.File(raw, "w") as file:
        _weights(file)
    return raw.getvalue()


def _keras(path: Path, config: object, others: dict[str, bytes] | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.9.0"}))
        archive.writestr("model.weights.h5", _weight_bytes())
        for name, content in (others or {}).items():
            archive.writestr(name, content)
    return path


def keras_lambda(path: Path, world: World) -> Path:
    return _keras(path, _network(_lambda(world)))


def keras_traversal(path: Path, world: World) -> Path:
    names = ("../" * 12 + str(world.canary).lstrip("/") + "/new", f"{world.canary}/new2")
    return _keras(path, _network(), {f"assets/{names[0]}": b"x", names[0]: b"x", names[1]: b"x"})


def keras_bomb(path: Path, world: World) -> Path:
    config = json.dumps(_network()).encode()
    others = {"config.json": config, "metadata.json": b'{"keras_version": "3.9.0"}'}
    write_bomb(path, "model.weights.h5", 3, others)
    return path


def keras_module(path: Path, world: World) -> Path:
    command = f"touch {world.canary}/new"
    named = {"module": "os", "class_name": "system", "config": {"command": command}}
    return _keras(path, _network(named, {"class_name": "os>system", "config": {"args": command}}))


def keras_huge_layer(path: Path, world: World) -> Path:
    return _keras(path, _network(_dense("b", 1 << 40), _dense("c", 1)))


def keras_deep_config(path: Path, world: World) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "[" * 1_000_000)
        archive.writestr("metadata.json", "{}")
        archive.writestr("model.weights.h5", _weight_bytes())
    return path


def h5_with(path: Path, config: object) -> Path:
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = "2.10.0"
        root = file.create_group("model_weights")
        root.attrs["layer_names"] = [b"a"]
        group = root.create_group("a")
        group.attrs["weight_names"] = [b"a/w:0", b"a/b:0"]
        group["a/w:0"], group["a/b:0"] = np.ones((3, 1), "f4"), np.zeros(1, "f4")
    return path


def h5_lambda(path: Path, world: World) -> Path:
    return h5_with(path, _network(_lambda(world)))


def h5_external_link(path: Path, world: World) -> Path:
    h5_with(path, _network())
    with h5py.File(world.canary.parent / "outside.h5", "w") as file:
        file["w"] = np.ones((3, 1), "f4")
    with h5py.File(path, "a") as file:
        group = file["model_weights/a/a"]
        del group["w:0"]
        group["w:0"] = h5py.ExternalLink(str(world.canary.parent / "outside.h5"), "w")
    return path


def h5_external_data(path: Path, world: World) -> Path:
    h5_with(path, _network())
    with h5py.File(path, "a") as file:
        group = file["model_weights/a/a"]
        del group["w:0"]
        secret = str(world.canary / "secret")
        group.create_dataset("w:0", (3, 1), "f4", external=[(secret, 0, 12)])
    return path


def h5_huge_shape(path: Path, world: World) -> Path:
    h5_with(path, _network())
    with h5py.File(path, "a") as file:
        group = file["model_weights/a/a"]
        del group["w:0"]
        group.create_dataset("w:0", (1 << 40, 1), "f4", chunks=(1 << 20, 1))
    return path


def saved_model(path: Path, world: World) -> Path:
    """Write a folder that holds links out of itself, and no graph."""
    path.mkdir()
    (path / "saved_model.pb").write_bytes(b"\x08\x01\x12" + bytes(100))
    (path / "variables").symlink_to(world.canary)
    (path / "assets").mkdir()
    (path / "assets" / "secret").symlink_to(world.canary / "secret")
    return path


def _onnx(path: Path, tensor: object, *, sparse: bool = False) -> Path:
    import onnx
    from onnx import TensorProto, helper

    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])],
        initializer=[] if sparse else [tensor],
    )
    if sparse:
        graph.sparse_initializer.append(tensor)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    assert onnx.__version__
    return path


def _outside(name: str, where: Path, dims: tuple[int, ...], kind: int) -> object:
    from onnx import TensorProto

    tensor = TensorProto(name=name, data_type=kind, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=str(where))
    tensor.external_data.add(key="length", value="12")
    return tensor


def onnx_external(path: Path, world: World) -> Path:
    return _onnx(path, _outside("w", world.canary / "secret", (3, 1), 1))


def onnx_relative(path: Path, world: World) -> Path:
    up = Path("../" * 12 + str(world.canary / "secret").lstrip("/"))
    return _onnx(path, _outside("w", up, (3, 1), 1))


def onnx_sparse(path: Path, world: World) -> Path:
    from onnx import SparseTensorProto

    sparse = SparseTensorProto(dims=(3, 1))
    sparse.values.CopyFrom(_outside("w", world.canary / "secret", (3,), 1))
    sparse.indices.CopyFrom(_outside("", world.canary / "secret", (3,), 7))
    return _onnx(path, sparse, sparse=True)


def onnx_huge(path: Path, world: World) -> Path:
    from onnx import TensorProto

    return _onnx(path, TensorProto(name="w", data_type=1, dims=(3, 1 << 29), raw_data=b"\0" * 12))


def onnx_huge_inside(path: Path, world: World) -> Path:
    """Write a graph that fills 64 GB when it is asked."""
    from onnx import TensorProto, helper

    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [1 << 17, 1 << 17])
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["big"]),
        helper.make_node("ReduceSum", ["big"], ["sum"], keepdims=0),
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[1], keepdims=1),
        helper.make_node("Add", ["mean", "sum"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])],
        initializer=[shape],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def csv_wide(path: Path, world: World) -> Path:
    columns = 2_000_000
    path.write_text(",".join(f"c{i}" for i in range(columns)) + "\n" + "1," * (columns - 1) + "1\n")
    return path


def csv_nuls(path: Path, world: World) -> Path:
    path.write_bytes(bytes(5 * _MEGABYTE))
    return path


def csv_formulas(path: Path, world: World) -> Path:
    cell = f"=cmd|' /C touch {world.canary}/new'!A0"
    rows = "\n".join(f'"{cell}",@SUM(1+1),{"yes" if i % 2 else "no"}' for i in range(50))
    path.write_text(f"=HYPERLINK(1),+age,hired\n{rows}\n")
    return path


def csv_quote(path: Path, world: World) -> Path:
    path.write_text('a,b\n1,"' + "x,\n" * 2_000_000)
    return path


def csv_long_cell(path: Path, world: World) -> Path:
    path.write_text("a,b\n1," + "x" * (64 * _MEGABYTE) + "\n2,y\n")
    return path


def csv_packed(path: Path, world: World) -> Path:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    path.write_bytes(packer.compress(b"1,2\n" * (64 * _MEGABYTE)) + packer.flush())
    return path


_SHEET = b"""<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/\
2006/main"><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData></worksheet>"""


def _workbook(sheet: bytes) -> dict[str, bytes]:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        f'PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/><Override '
        f'PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>'
        "".encode(),
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>'.encode(),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="s" '
        'sheetId="1" r:id="r1"/></sheets></workbook>'.encode(),
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>".encode(),
        **({"xl/worksheets/sheet1.xml": sheet} if sheet else {}),
    }


def xlsx_bomb(path: Path, world: World) -> Path:
    write_bomb(path, "xl/worksheets/sheet1.xml", 3, _workbook(b""))
    return path


def xlsx_entities(path: Path, world: World) -> Path:
    bomb = '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(10)
    )
    secret = f'<!ENTITY s SYSTEM "file://{world.canary}/secret">]>'
    sheet = _SHEET.replace(b"<worksheet", f"{bomb}{secret}<worksheet".encode(), 1)
    sheet = sheet.replace(b"<v>1</v>", b"<v>&k;&s;</v>")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in _workbook(sheet).items():
            archive.writestr(name, content)
    return path


def sqlite_trap(path: Path, world: World) -> Path:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE real (a, b)")
        database.execute(
            "CREATE VIEW people AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            f" SELECT i, load_extension('{world.canary}/deeper/kept') FROM n"
        )
    database.close()
    return path


def parquet_cut(path: Path, world: World) -> Path:
    path.write_bytes(b"PAR1" + bytes(1000) + struct.pack("<I", 0x7FFF_FFFF) + b"PAR1")
    return path


def table_link(path: Path, world: World) -> Path:
    path.symlink_to("/dev/zero")
    return path


#: By name: the file's suffix, and who makes it.
MODELS: dict[str, tuple[str, Make]] = {
    ".keras with a Lambda": (".keras", keras_lambda),
    ".keras with paths out of the archive": (".keras", keras_traversal),
    ".keras that unpacks to 3 GB": (".keras", keras_bomb),
    ".keras that names os.system": (".keras", keras_module),
    ".keras with a layer of 2^40 units": (".keras", keras_huge_layer),
    ".keras nested a million times": (".keras", keras_deep_config),
    ".h5 with a Lambda": (".h5", h5_lambda),
    ".h5 with a link to another file": (".h5", h5_external_link),
    ".h5 with its weights in a secret file": (".h5", h5_external_data),
    ".h5 with an array of 4 TB": (".h5", h5_huge_shape),
    "SavedModel with links out of the folder": ("", saved_model),
    "ONNX with weights in a secret file": (".onnx", onnx_external),
    "ONNX with weights up the folders": (".onnx", onnx_relative),
    "ONNX with sparse weights outside": (".onnx", onnx_sparse),
    "ONNX with a tensor of 6 GB": (".onnx", onnx_huge),
    "ONNX that takes 64 GB when asked": (".onnx", onnx_huge_inside),
}
TABLES: dict[str, tuple[str, Make]] = {
    "CSV of two million columns": (".csv", csv_wide),
    "CSV of NULs": (".csv", csv_nuls),
    "CSV of formulas": (".csv", csv_formulas),
    "CSV with a quote that never ends": (".csv", csv_quote),
    "CSV with a cell of 64 MB": (".csv", csv_long_cell),
    "CSV that is packed": (".csv", csv_packed),
    "Excel sheet that unpacks to 3 GB": (".xlsx", xlsx_bomb),
    "Excel sheet of entities": (".xlsx", xlsx_entities),
    "SQLite view without end": (".sqlite", sqlite_trap),
    "Parquet with a footer of 2 GB": (".parquet", parquet_cut),
    "link to an endless device": (".csv", table_link),
}
