"""What scalers, encoders and lists beside a model tell about how it is fed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from fairdesk.errors import ModelError
from fairdesk.models.model import Hints, Step
from fairdesk.models.preparation.arranging import (
    arranged,
    columns_for,
    is_part,
    lists_in,
    names_of,
    words_of,
    wrong_width,
)

#: Words in the name of an encoder that are not the name of its column.
_TOOL_WORDS = frozenset(
    (
        *("le", "lb", "ohe", "oe", "label", "labels", "encoder", "encoders", "enc", "encoding"),
        *("labelencoder", "onehot", "onehotencoder", "ordinal", "ordinalencoder", "one", "hot"),
        *("map", "mapping", "code", "codes", "binarizer", "labelbinarizer", "classes", "for"),
    )
)
_TARGET_WORDS = frozenset({"target", "y", "class", "outcome", "output", "response", "label"})
#: Words in the names of what is about the model and not about its inputs.
_NOTE_WORDS = frozenset(
    (
        *("metric", "metrics", "score", "scores", "param", "params", "parameters", "config"),
        *("hyperparameters", "settings", "performance", "importance", "importances", "report"),
        *("info", "metadata", "meta", "results", "options", "version", "versions"),
    )
)
#: Steps of scikit-learn's scalers: the attribute, what is done with it, and what switches it off.
_SCALERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "StandardScaler": (("mean_", "subtract", "with_mean"), ("scale_", "divide", "with_std")),
    "MinMaxScaler": (("scale_", "multiply", ""), ("min_", "add", "")),
    "MaxAbsScaler": (("scale_", "divide", ""),),
    "RobustScaler": (
        ("center_", "subtract", "with_centering"),
        ("scale_", "divide", "with_scaling"),
    ),
}


class Preparation:
    """Gathers what things beside a model tell.

    Parameters
    ----------
    hints : Hints
        What the model's own file told.
    inputs : int
        How many inputs it takes.
    classes : sequence
        Its classes; none of a model that estimates a number.
    named : bool
        Whether it knows the names of its inputs itself.

    Attributes
    ----------
    before : list
        Names and transformers that are put before the model, in order.
    explanations, notes : list[str]
        What was found, and what the auditor must know; a sentence each.
    """

    def __init__(
        self, hints: Hints, inputs: int, classes: Sequence[object], *, named: bool = False
    ) -> None:
        self._inputs = inputs
        self._classes = len(classes)
        # an encoder may have names for classes that are numbers
        self._numbered = [str(name) for name in classes] == [str(i) for i in range(len(classes))]
        self._named = named
        self._told = msgspec.structs.replace(
            hints,
            codes=dict(hints.codes),
            one_hot=dict(hints.one_hot),
            steps=dict(hints.steps),
            scalers=dict(hints.scalers),
        )
        self._lists: dict[str, tuple[str, ...]] = {}
        #: The columns whose codes lie under the columns' own names.
        self._stated: list[str] = []
        self.before: list[tuple[str, Any]] = []
        self.explanations = list(hints.notes)
        self.notes: list[str] = []

    def take(self, things: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Take what things tell, given with the names under which they lie.

        Returns
        -------
        list[tuple[str, Any]]
            Those that tell nothing.

        Raises
        ------
        ModelError
            When two of them contradict each other.
        """
        listed = list(things)
        self._lists.update(lists_in(listed))
        chained = [entry for entry in listed if self._belongs_before(entry[1])]
        scalers = [entry for entry in listed if _kind(entry[1]) in _SCALERS]
        if chained:
            # where something is put before the model, so is what scales, in the order it is given
            chained = [
                entry
                for entry in listed
                if entry in chained or any(entry is scaler for scaler in scalers)
            ]
            self._chain(chained)
        done = {id(thing) for _, thing in self.before}
        # the order of the inputs comes first: encoders without names need it
        rest = sorted(
            (entry for entry in listed if id(entry[1]) not in done),
            key=lambda entry: names_of(entry[1]) is None,
        )
        unused = [entry for entry in rest if not self._understood(*entry)]
        self._arrange()
        return unused

    def hints(self) -> Hints:
        """Return what was told."""
        stated = [_stated(self._stated)] if self._stated else []
        return msgspec.structs.replace(self._told, notes=(*self.explanations, *stated))

    def _tell(self, **fields: object) -> None:
        self._told = msgspec.structs.replace(self._told, **fields)

    def _belongs_before(self, thing: Any) -> bool:  # noqa: ANN401 - anything
        """Return whether a thing changes rows in a way that hints cannot say."""
        if not hasattr(thing, "transform") or hasattr(thing, "predict"):
            return False
        kind = _kind(thing)
        if kind in ("LabelEncoder", "LabelBinarizer"):
            return False
        if kind in _SCALERS:
            return bool(getattr(thing, "clip", False))
        if kind == "OrdinalEncoder":
            return width_of(thing) == self._inputs and column_names(thing) is None
        if kind == "OneHotEncoder":
            infrequent = getattr(thing, "infrequent_categories_", None) is not None
            return infrequent or width_of(thing) == self._inputs
        return True

    def _chain(self, entries: list[tuple[str, Any]]) -> None:
        """Put transformers before the model: each must give what the next one takes."""
        wanted = self._inputs
        for name, thing in reversed(entries):
            width = width_of(thing)
            if width is not None and width != wanted:
                if _kind(thing) in _SCALERS:
                    continue
                raise wrong_width(name, width, wanted, "what comes after it")
            self.before.insert(0, (name, thing))
            wanted = int(getattr(thing, "n_features_in_", 0)) or wanted
        self.explanations += [
            f"“{name}” ({_kind(thing)}) is applied before the model." for name, thing in self.before
        ]

    def _understood(self, name: str, thing: Any) -> bool:  # noqa: ANN401 - anything
        try:
            return self._tells(name, thing)
        except (AttributeError, TypeError, ValueError, IndexError) as error:
            raise ModelError(
                f"“{name}” ({_kind(thing)}) cannot be used.",
                why=f"It was not fitted, or is damaged: {type(error).__name__}: {error}",
                remedy="Save it again after it was fitted.",
            ) from error

    def _tells(self, name: str, thing: Any) -> bool:  # noqa: ANN401 - anything
        by_kind = {
            **dict.fromkeys(_SCALERS, self._scaler),
            "LabelEncoder": self._label_encoder,
            "LabelBinarizer": self._label_binarizer,
            "OrdinalEncoder": self._ordinal_encoder,
            "OneHotEncoder": self._one_hot_encoder,
        }
        if _kind(thing) in by_kind:
            return by_kind[_kind(thing)](name, thing)
        if isinstance(thing, str):
            return self._text(name, thing)
        if isinstance(thing, Mapping):
            return self._mapping(name, dict(thing))
        names = names_of(thing)
        return names is not None and self._names(name, names)

    def _names(self, name: str, names: tuple[str, ...]) -> bool:
        words = words_of(name)
        if (words & _TARGET_WORDS or "classes" in words) and len(names) == self._classes:
            self._name_classes(names, name)
            return True
        if len(names) == 1 and words & _TARGET_WORDS:
            return self._text(name, names[0])
        if is_part(name):
            return False
        width = self._inputs
        if self.before:
            width = int(getattr(self.before[0][1], "n_features_in_", 0)) or width
        if self.before and len(names) == self._inputs != width:
            self.explanations.append(
                f"“{name}” names the {len(names):,} columns that the model receives."
            )
            return True
        if len(names) != width:
            return False
        if self._told.features and self._told.features != names:
            raise _contradiction(
                f"“{name}” gives a different order of the inputs from the one given before"
            )
        self._tell(features=names)
        self.explanations.append(f"“{name}” names the {len(names):,} inputs, in order.")
        return True

    def _arrange(self) -> None:
        """Name the inputs after what was fitted, where no list does."""
        whole = next((c for c in self._told.scalers.values() if len(c) == self._inputs), ())
        if whole and set(whole) == set(self._told.features) and whole != self._told.features:
            raise _contradiction(
                "A scaler takes the inputs in a different order from the one given before"
            )
        if self._told.features or self.before or self._named:
            return
        found = arranged(self._inputs, self._told, self._lists)
        if found is not None:
            self._tell(features=found.features)
            self.explanations.append(found.note)
            self.notes += [found.assumed] if found.assumed else []

    def _text(self, name: str, text: str) -> bool:
        if not words_of(name) & _TARGET_WORDS:
            return False
        if self._told.target not in ("", text):
            raise _contradiction(f"The target is “{self._told.target}” and “{text}”")
        self._tell(target=text)
        self.explanations.append(f"“{name}” states that the target is “{text}”.")
        return True

    def _name_classes(self, names: tuple[str, ...], name: str) -> None:
        if self._told.classes not in ((), names):
            raise _contradiction(f"“{name}” names classes other than those given before")
        self._tell(classes=names)
        self.explanations.append(f"“{name}” names the classes: {', '.join(names)}.")

    def _codes(self, column: str, codes: dict[str, float], name: str) -> None:
        if self._told.codes.get(column, codes) != codes:
            raise _contradiction(f"“{name}” gives other codes for “{column}” than those before")
        self._told.codes[column] = codes
        if name == column:
            self._stated.append(column)
        else:
            self.explanations.append(f"“{name}” has the codes of “{column}”.")

    def _one_hot(self, column: str, categories: tuple[str, ...], name: str) -> None:
        if self._told.one_hot.get(column, categories) != categories:
            raise _contradiction(f"“{name}” gives other categories of “{column}” than those before")
        self._told.one_hot[column] = categories
        self.explanations.append(
            f"“{name}” makes an input from each of {len(categories)} values of “{column}”."
        )

    def _label_binarizer(self, name: str, binarizer: Any) -> bool:  # noqa: ANN401 - scikit-learn's
        self._one_hot(_column_of(name), _texts(binarizer.classes_), name)
        return True

    def _label_encoder(self, name: str, encoder: Any) -> bool:  # noqa: ANN401 - scikit-learn's
        classes = _texts(encoder.classes_)
        column = _column_of(name)
        of_target = not column or column == self._told.target or column.casefold() in _TARGET_WORDS
        if of_target:
            if len(classes) != self._classes:
                return False
            if self._numbered:
                self._name_classes(classes, name)
            else:
                self.explanations.append(
                    f"“{name}” names classes that already have names in the model."
                )
            return True
        self._codes(column, {text: float(i) for i, text in enumerate(classes)}, name)
        return True

    def _encoded(self, name: str, encoder: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - scikit-learn's
        """Find the columns that an encoder encodes; None, and a note, where nothing tells."""
        count = len(encoder.categories_)
        columns = column_names(encoder) or columns_for(self._lists, count, numbers=False)
        if columns is None and count == 1:
            columns = (_column_of(name),)
        if not columns or not all(columns):
            self.notes.append(f"“{name}” does not state which columns it encodes: it is not used.")
            return None
        return columns

    def _ordinal_encoder(self, name: str, encoder: Any) -> bool:  # noqa: ANN401 - scikit-learn's
        columns = self._encoded(name, encoder)
        if columns is None:
            return True
        for column, categories in zip(columns, encoder.categories_):
            codes = {text: float(i) for i, text in enumerate(_texts(categories))}
            self._codes(column, codes, name)
        return True

    def _one_hot_encoder(self, name: str, encoder: Any) -> bool:  # noqa: ANN401 - scikit-learn's
        columns = self._encoded(name, encoder)
        if columns is None:
            return True
        dropped = getattr(encoder, "drop_idx_", None)
        for i, (column, categories) in enumerate(zip(columns, encoder.categories_)):
            texts = _texts(categories)
            left_out = None if dropped is None else dropped[i]
            self._one_hot(column, tuple(t for j, t in enumerate(texts) if j != left_out), name)
        return True

    def _scaler(self, name: str, scaler: Any) -> bool:  # noqa: ANN401 - scikit-learn's
        # before scikit-learn 0.24 nothing but the arithmetic itself told
        widths = (np.size(getattr(scaler, key, ())) for key, *_ in _SCALERS[_kind(scaler)])
        width = int(getattr(scaler, "n_features_in_", 0)) or max(widths)
        columns = column_names(scaler)
        if columns is None and width != self._inputs:
            columns = columns_for(self._lists, width, numbers=True)
        if width == 1 and self._inputs != 1 and columns is None:
            self.notes.append(
                f"“{name}” scales a single column that it does not name, perhaps the target: it "
                "is not used."
            )
            return True
        arithmetic = _steps_of(scaler, width)
        if columns is None:
            if self._told.steps_in_order not in ((), arithmetic):
                raise _contradiction(f"“{name}” scales what another scaler already scales")
            self._tell(steps_in_order=arithmetic)
        else:
            twice = [
                column
                for column, steps in zip(columns, arithmetic)
                if self._told.steps.get(column, steps) != steps
            ]
            if twice:
                raise _contradiction(f"“{name}” scales “{twice[0]}”, which is already scaled")
            self._told.steps.update(zip(columns, arithmetic))
            self._told.scalers[name] = columns
        self.explanations.append(f"“{name}” ({_kind(scaler)}) scales {width:,} columns.")
        return True

    def _mapping(self, name: str, given: dict[Any, Any]) -> bool:
        """Take a dictionary: of encoders, of codes by column, of codes, or of other things."""
        if not given or not all(isinstance(key, (str, int, float, bool)) for key in given):
            return False
        if all(_is_number(value) for value in given.values()):
            return self._numbers(name, given)
        if is_turned_round(given):
            turned = {value: float(key) for key, value in given.items()}
            return len(turned) == len(given) and self._mapping(name, turned)
        taken = [self._tells(str(key), value) for key, value in given.items()]
        return any(taken)

    def _numbers(self, name: str, given: dict[Any, Any]) -> bool:
        """Take codes, of a column's values or of the classes."""
        column = _column_of(name)
        whole = all(float(value).is_integer() for value in given.values())
        if (
            not column
            or len(given) < 2
            or not whole
            or (is_part(name) or words_of(name) & _NOTE_WORDS)
        ):
            return False
        if column.casefold() in _TARGET_WORDS or column == self._told.target:
            return self._numbered_classes(name, given)
        self._codes(column, {_text(key): float(value) for key, value in given.items()}, name)
        return True

    def _numbered_classes(self, name: str, given: dict[Any, Any]) -> bool:
        places = sorted(given, key=lambda key: float(given[key]))
        if [float(given[key]) for key in places] != list(range(self._classes)):
            return False
        self._name_classes(tuple(_text(key) for key in places), name)
        return True


def _stated(columns: Sequence[str]) -> str:
    """Say which columns a file has numbers for under their own names."""
    names = ", ".join(f"“{column}”" for column in columns)
    return f"A companion file has the codes of {names}."


def is_codes(given: Mapping[Any, Any]) -> bool:
    """Return whether a dictionary has a number for each value, or a value for each number."""
    numbers = all(_is_number(value) for value in given.values())
    return bool(given) and (numbers or is_turned_round(given))


def is_turned_round(given: Mapping[Any, Any]) -> bool:
    """Return whether a dictionary has a value for each number, as JSON or as Python has it."""
    return all(isinstance(value, str) for value in given.values()) and all(
        _is_number(key) or (isinstance(key, str) and key.isdecimal()) for key in given
    )


def column_names(transformer: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - scikit-learn's
    """Return the names of the columns that a transformer was fitted on, where it knows them."""
    names = getattr(transformer, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def width_of(transformer: Any) -> int | None:  # noqa: ANN401 - scikit-learn's
    """Return how many columns a transformer gives; None where only a try would tell."""
    try:
        return len(transformer.get_feature_names_out())
    except Exception:  # noqa: BLE001 - any kind: transformers need not know
        count = getattr(transformer, "n_components_", None)
        return int(count) if isinstance(count, (int, np.integer)) else None


def _steps_of(scaler: Any, width: int) -> tuple[tuple[Step, ...], ...]:  # noqa: ANN401 - scikit-learn's
    found = []
    for attribute, op, switch in _SCALERS[_kind(scaler)]:
        values = getattr(scaler, attribute, None)
        if values is not None and (not switch or getattr(scaler, switch, True)):
            found.append((op, np.broadcast_to(np.asarray(values, dtype=np.float64), (width,))))
    return tuple(
        tuple(Step(op, float(values[column])) for op, values in found)  # type: ignore[arg-type]  # of the table above
        for column in range(width)
    )


def _kind(thing: object) -> str:
    return type(thing).__name__


def _texts(values: Any) -> tuple[str, ...]:  # noqa: ANN401 - an array of anything
    return tuple(_text(value) for value in np.asarray(values).tolist())


def _text(value: object) -> str:
    # whole numbers that a column with gaps made decimal are written as the table has them
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _column_of(name: str) -> str:
    """Return what is left of an encoder's name without the words that say it is one."""
    parts = [part for part in re.split(r"[\s_]+", name) if part]
    left = [part for part in parts if part.casefold() not in _TOOL_WORDS]
    if len(left) == len(parts):
        return name
    # a column may be called as an encoder's word when nothing else is there
    return "_".join(left)


def _contradiction(what: str) -> ModelError:
    return ModelError(
        f"{what}.",
        why="The companion files contradict each other, or the model file.",
        remedy="Choose only those that belong to this model.",
    )
