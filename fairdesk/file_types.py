"""Formats of files that an auditor may choose, and what to do about each.

How they are told apart is in `fairdesk.signatures`.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The formats of models, with their endings.
MODEL_FORMATS = (
    "Keras (.keras, .h5), ONNX (.onnx), scikit-learn (.pkl, .joblib, .skops), PMML (.pmml), "
    "XGBoost (.json, .ubj), LightGBM (.txt) and CatBoost (.cbm)"
)
#: Where nothing but its decisions can be had of a model.
DECISIONS = (
    "Or add the model’s decisions to the table as a column: group metrics are computed from "
    "these alone."
)
#: What to do about a file whose format nobody knows.
ASK = f"Ask its author which program wrote it, and for the model as ONNX or PMML. {DECISIONS}"
_MODEL = (
    "Choose the file that the trained model was saved to: by joblib.dump(), by model.save(), or "
    "by an export to ONNX or PMML."
)
_TABLE = "Choose the file with the rows: CSV, Parquet, Excel, OpenDocument or SQLite."
AS_MODEL = "Choose it as the model, and the file with the rows as the data."
AS_DATA = (
    "Choose it as the data. If one of its columns holds the model’s decisions, name that column "
    "in place of a model (on the command line: --predictions)."
)
_ONNX = 'torch.onnx.export(model.eval(), torch.zeros(1, n), "model.onnx")'
TORCH = f"Ask its author to export it as ONNX, where n is the number of its inputs: {_ONNX}."


@dataclass(frozen=True)
class Recognised:
    """What a file is.

    Attributes
    ----------
    what : str
        With its article: ``"a picture (PNG)"``.
    as_model, as_table : str
        What to do where it was chosen as the model, and as the table; whole sentences.
    text : bool
        Whether it is a text.
    opens : bool
        Whether it is of a format of models that FairDesk opens.
    unpacks : bool
        Whether it is an archive in which FairDesk looks for a model.
    """

    what: str
    as_model: str
    as_table: str
    text: bool = False
    opens: bool = False
    unpacks: bool = False


def model_type(what: str, as_model: str, as_table: str = _TABLE) -> Recognised:
    """Describe a model of a program that FairDesk does not read."""
    return Recognised(what, as_model, as_table)


def opened_type(what: str, as_table: str = AS_MODEL) -> Recognised:
    """Describe a format of models that FairDesk opens."""
    return Recognised(what, "", as_table, opens=True)


def table_type(what: str, as_table: str, as_model: str = AS_DATA) -> Recognised:
    """Describe a table of a program that FairDesk does not read."""
    return Recognised(what, as_model, as_table)


def other_type(what: str) -> Recognised:
    """Describe what is neither a model nor a table."""
    return Recognised(what, _MODEL, _TABLE)


def text_type(what: str, as_model: str = _MODEL, as_table: str = _TABLE) -> Recognised:
    """Describe a text that is neither a model nor a table."""
    return Recognised(what, as_model, as_table, text=True)


def stand_in(what: str, remedy: str) -> Recognised:
    """Describe what was saved in place of the file itself."""
    return Recognised(what, remedy, remedy, text=True)


R = model_type(
    "an R object (.rds)",
    "Export the model in R as PMML, with the package “pmml”: "
    f'pmml::save_pmml(pmml::pmml(readRDS("{{name}}")), "model.pmml"). {DECISIONS}',
    'Write the table in R: write.csv(readRDS("{name}"), "table.csv", row.names = FALSE).',
)
R_DATA = model_type(
    "a file of R objects (.RData)",
    'Export the model in R as PMML, with the package “pmml”: load("{name}"), then '
    'pmml::save_pmml(pmml::pmml(model), "model.pmml") with the name of the model’s object. '
    f"{DECISIONS}",
    'Write the table in R: load("{name}"), then write.csv(table, "table.csv", row.names = FALSE) '
    "with the name of the table’s object.",
)
PYTORCH = model_type("a PyTorch model", TORCH)
TORCHSCRIPT = model_type(
    "a PyTorch model (TorchScript)",
    "Export it as ONNX, where n is the number of its inputs: "
    'model = torch.jit.load("{name}"); ' + _ONNX + ".",
)
SAFETENSORS = model_type("a file of weights without their network (safetensors)", TORCH)
JAVA = model_type("a Java object", f"Ask its author for the model as PMML or ONNX. {DECISIONS}")
WEKA = model_type(
    "a Weka model",
    "Let Weka write its predictions: in the Explorer, “More options…”, “Output predictions”, CSV. "
    "Add them to the table as a column: group metrics are computed from these alone.",
)
TFLITE = model_type(
    "a TensorFlow Lite model",
    "Convert it to ONNX: python -m tf2onnx.convert --tflite {name} --output model.onnx; or "
    'choose the Keras model that it was made from (model.save("model.keras")).',
)
SAVED_MODEL_PART = model_type(
    "one file of a TensorFlow SavedModel",
    "Choose the folder that it is in: that is the model.",
)
TF_GRAPH = model_type(
    "a TensorFlow graph (.pb)",
    'Ask its author for the Keras model (model.save("model.keras")), or for ONNX, made by tf2onnx.',
)
TF_CHECKPOINT = model_type(
    "part of a TensorFlow checkpoint: weights without their network",
    'Ask its author to load the weights and save the whole model: model.save("model.keras").',
)
MOJO = model_type(
    "an H2O model (MOJO)",
    "Score the table in H2O and write both: "
    'h2o.export_file(table.cbind(model.predict(table)), "scored.csv"). Then audit the column '
    "with its decisions: group metrics are computed from these alone.",
)
SPARK = model_type(
    "a Spark model",
    "Export it as PMML with pyspark2pmml: "
    f'PMMLBuilder(spark, table, model).buildFile("model.pmml"). {DECISIONS}',
)
CORE_ML = model_type(
    "a Core ML model",
    "Choose the model that it was converted from, or ask its author for it as ONNX.",
)
PADDLE = model_type(
    "a PaddlePaddle model",
    "Export it as ONNX with paddle2onnx, or in Python: "
    'paddle.onnx.export(model, "model", input_spec=[paddle.static.InputSpec([-1, n])]), where n '
    "is the number of its inputs.",
)
GGUF = model_type(
    "a language model (GGUF)",
    f"FairDesk audits models of tables and classifiers of texts. {DECISIONS}",
)
MATLAB = table_type(
    "a MATLAB file (.mat)",
    'Write the table in MATLAB: writetable(t, "table.csv").',
    'Export a network in MATLAB as ONNX: exportONNXNetwork(net, "model.onnx"). ' + DECISIONS,
)
ARRAYS = table_type(
    "a file of NumPy arrays",
    "Write them as CSV with the names of their columns: "
    'pandas.DataFrame(numpy.load("{name}"), columns=names).to_csv("table.csv", index=False).',
    f"It holds numbers, not a model. {_MODEL}",
)
SAS = table_type(
    "a SAS table (.sas7bdat)",
    'Write it in SAS as CSV: proc export data=name outfile="table.csv" dbms=csv; run;',
)
SAS_TRANSPORT = table_type("a SAS transport file (.xpt)", SAS.as_table)
SPSS = table_type("an SPSS table (.sav)", "Save it in SPSS as CSV: File, Save As, type CSV.")
STATA = table_type(
    "a Stata table (.dta)", 'Write it in Stata as CSV: export delimited using "table.csv".'
)
ARROW = table_type(
    "an Arrow or Feather table",
    'Save it as Parquet: pandas.read_feather("{name}").to_parquet("table.parquet").',
)
PARQUET = Recognised("a table (Parquet)", AS_DATA, "", opens=False)
SQLITE = Recognised("a database (SQLite)", AS_DATA, "")
WORKBOOK = Recognised("a workbook", AS_DATA, "")
DOCUMENT = other_type("a text document")
_ARCHIVE_REMEDY = (
    "Take the {role} out of the archive with the program that opens such archives, and choose "
    "that file."
)


def archive_type(what: str, *, unpacks: bool = False) -> Recognised:
    """Describe an archive."""
    return Recognised(
        what,
        _ARCHIVE_REMEDY.replace("{role}", "model’s file"),
        _ARCHIVE_REMEDY.replace("{role}", "table’s file"),
        unpacks=unpacks,
    )


CUT_OFF = Recognised(
    "cut off: the list of its parts, at its end, is missing",
    "Download or copy it again, and compare its size with the original’s.",
    "Download or copy it again, and compare its size with the original’s.",
)

SCRIPT = (
    "Run it and save the trained model at its end: "
    'import joblib; joblib.dump(model, "model.joblib").'
)
BITMAP = other_type("a picture (BMP)")
PROGRAM = other_type("a program")
KERAS = opened_type("a Keras model")
SKOPS = opened_type("a skops model")
HDF5 = opened_type("an HDF5 file, as of a Keras model")
ONNX = opened_type("an ONNX model")
PMML = Recognised("a PMML model", "", AS_MODEL, text=True, opens=True)
BOOSTED = opened_type("a model of boosted trees")
BOOSTED_TEXT = Recognised(BOOSTED.what, "", AS_MODEL, text=True, opens=True)
PICKLE = opened_type(
    "a Python pickle",
    "If it holds a model, choose it as the model. If it holds a table, save that as CSV: "
    'pandas.read_pickle("{name}").to_csv("table.csv", index=False).',
)
SCORE_IT = (
    "Score the table with it and add its decisions as a column: group metrics are computed from "
    "these alone."
)
